// Sentences of the library for readers who write Python: the program's flags and fields of C++ become keywords.
#include <array>
#include <cctype>
#include <utility>

#include "native/errors.h"

namespace tenfold::python {
namespace {

// Whole phrases first, so that what names a keyword already loses the flag beside it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 41> kWords{{
    {"; to the program by --shapes, or --minShapes, --optShapes and --maxShapes", ""},
    {"the shapes of inputs (--shapes)", "the shapes of inputs (profiles)"},
    {"BuildConfig::refittable (--refit)", "refittable=True"},
    {"BuildConfig::disabled_passes, --disablePasses=", "disabled_passes="},
    {"LayerTypes::constraints (--precisionConstraints)", "constraints of layer_types"},
    {"Calibration::corrections, --corrections=none", "corrections=[] of calibration"},
    {"Calibration::sample (--data=PATH)", "samples of calibration"},
    {"a calibration (--int8 --data=PATH)", "calibration"},
    {"time_limit_s, --buildTimeout", "time_limit_s"},
    {"--loadInputs, typical_inputs", "typical_inputs"},
    {"--noTF32, tf32_convolutions, tf32_matmul", "tf32, tf32_convolutions, tf32_matmul"},
    {"a build with --noTF32 keeps", "a build with tf32=False keeps"},
    {"less workspace (--memPoolSize=workspace:MiB)", "less workspace (workspace_bytes)"},
    {"--calibrator, more --data", "method of calibration, more samples"},
    {"BuildConfig::", ""},
    {"Calibration::", ""},
    {"LayerTypes::", ""},
    {"--memPoolSize=workspace:MiB", "workspace_bytes"},
    {"--externalDataDir=", "external_data_dirs: "},
    {"--packTokens=zeros", "pack_tokens='zeros'"},
    {"--disablePasses", "disabled_passes"},
    {"--layerPrecisions", "layer_types"},
    {"--precisionConstraints", "layer_types"},
    {"--buildTimeout", "time_limit_s"},
    {"--loadInputs", "typical_inputs"},
    {"--calibrator", "method of calibration"},
    {"--max-error", "max_error"},
    {"--data=PATH", "calibration"},
    {"--data", "calibration"},
    {"--int8", "int8=True"},
    {"--noFastExp", "fast_exp=False"},
    {"--noWinograd", "winograd=False"},
    {"--noStrassen", "strassen=False"},
    {"--noTF32", "tf32=False"},
    {"--retune", "retune()"},
    {"--refit", "refittable=True"},
    {"--corrections", "corrections of calibration"},
    {"--minShapes", "profiles"},
    {"--optShapes", "profiles"},
    {"--maxShapes", "profiles"},
    {"--shapes", "profiles"},
}};

bool ends_here(std::string_view text, std::size_t end) {
  return end >= text.size() || std::isalnum(static_cast<unsigned char>(text[end])) == 0;
}

}  // namespace

std::string python_words(std::string_view text) {
  if (text.find("--") == std::string_view::npos && text.find("::") == std::string_view::npos) return std::string(text);
  std::string made;
  bool command = false;   // between backticks the program itself is meant
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (text[at] == '`') command = !command;
    const std::pair<std::string_view, std::string_view>* found = nullptr;
    for (const auto& entry : kWords)
      if (!command && found == nullptr && rest.starts_with(entry.first) &&
          (!std::isalnum(static_cast<unsigned char>(entry.first.back())) || ends_here(rest, entry.first.size())))
        found = &entry;
    made += found ? found->second : rest.substr(0, 1);
    at += found ? found->first.size() : 1;
  }
  return made;
}

}  // namespace tenfold::python
