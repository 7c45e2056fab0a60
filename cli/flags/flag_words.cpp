#include "flags/flag_words.h"

#include <utility>

namespace tenfold::cli {
namespace {

// From the first to the second, both included, becomes the third.
struct Phrase {
  std::string_view first, last, flag;
};
constexpr Phrase kPhrases[] = {
    {"config.profiles = ", "; to the program by ", ""},
    {"layer_types (--layerPrecisions, --layerOutputTypes)", "", "--layerPrecisions, --layerOutputTypes"},
    {"the profile (--shapes, --minShapes) names", "", "--shapes or --minShapes names"},
    {"Engine::load (--loadEngine=FILE)", "", "--loadEngine=FILE"},
    {"LayerTypes::constraints (--precisionConstraints)", "", "--precisionConstraints"},
};

}  // namespace

std::string in_flags(std::string_view text) {
  std::string made(text);
  for (const Phrase& phrase : kPhrases)
    for (std::size_t at = 0; (at = made.find(phrase.first, at)) != std::string::npos; at += phrase.flag.size()) {
      const std::size_t end = made.find(phrase.last, at + phrase.first.size());
      if (end == std::string::npos) break;
      made.replace(at, end + phrase.last.size() - at, phrase.flag);
    }
  return made;
}

}  // namespace tenfold::cli
