// Sentences of the library for readers who write Python: the program's flags and fields of C++ become keywords.
#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "native/errors.h"

namespace tenfold::python {
namespace {

// Whole phrases first, so that what names a keyword already loses the flag beside it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 49> kWords{{
    {", or --minShapes, --optShapes and --maxShapes", ", or (smallest, usual, largest shape)"},
    {"layer_types (--layerPrecisions, --layerOutputTypes)", "layer_types"},
    {"an idle machine, or time each more often (--avgTiming=N)", "an idle machine, or time each more often (timing_repetitions=N)"},
    {"Engine::load (--loadEngine=FILE)", "tenfold.load()"},
    {"it looks like an ONNX model, of which a plan is built first", "it looks like an ONNX model: tenfold.build() makes an engine of it"},
    {"(--precisionConstraints=prefer)", "(constraints of layer_types)"},
    {"(--device=cuda:0)", "(device='cuda:0')"},
    {"(BuildConfig::plugins, --plugins=FILE)", "(plugins=)"},
    {"BuildConfig::refittable (--refit)", "refittable=True"},
    {"BuildConfig::disabled_passes, --disablePasses=", "disabled_passes="},
    {"LayerTypes::constraints (--precisionConstraints)", "constraints of layer_types"},
    {"Calibration::corrections, --corrections=none", "corrections=[] of calibration"},
    {"Calibration::sample (--data=PATH)", "samples of calibration"},
    {"a calibration (--int8 --data=PATH)", "calibration"},
    {"time_limit_s, --buildTimeout", "time_limit_s"},
    {"--loadInputs, typical_inputs", "typical_inputs"},
    {"drop --noTF32, or set tf32_convolutions, tf32_matmul", "set tf32=True, or tf32_convolutions, tf32_matmul"},
    {"a build with --noTF32 keeps", "a build with tf32=False keeps"},
    {"less workspace (--memPoolSize=workspace:MiB)", "less workspace (workspace_bytes)"},
    {"--calibrator, more --data", "method of calibration, more samples"},
    {"profile (--shapes, --minShapes) names", "profile names"},
    {"BuildConfig::", ""},
    {"Calibration::", ""},
    {"LayerTypes::", ""},
    {"--memPoolSize=workspace:MiB", "workspace_bytes"},
    {"--externalDataDir=", "external_data_dirs: "},
    {"--packTokens=zeros", "pack_tokens='zeros'"},
    {"max_weight_ratio, --maxWeightRatio", "max_weight_ratio"},
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

// config.profiles = ...; to the program by --shapes=x:1x64,'y:0':3 becomes profiles={"x": (1, 64), "y:0": (3,)}.
std::string with_profiles(std::string_view given) {
  constexpr std::string_view kStart = "config.profiles = ", kFlag = "; to the program by --shapes=", kEnd = ", or --minShapes";
  std::string text(given);
  const std::size_t start = text.find(kStart), flag = text.find(kFlag), end = text.find(kEnd);
  if (start == std::string::npos || flag == std::string::npos || end == std::string::npos || !(start < flag && flag < end)) return text;
  std::string_view spec = std::string_view(text).substr(flag + kFlag.size(), end - flag - kFlag.size());
  std::string made = "profiles={";
  while (!spec.empty()) {
    const bool quoted = spec.front() == '\'';
    const std::size_t close = quoted ? spec.find("':", 1) : spec.find(':');
    if (close == std::string_view::npos) return text;
    made += (made.back() == '{' ? "\"" : ", \"") + std::string(spec.substr(quoted, close - quoted)) + "\": (";
    spec.remove_prefix(close + (quoted ? 2 : 1));
    const std::string_view shape = spec.substr(0, spec.find(','));
    for (const char c : shape) made += c == 'x' ? ", " : std::string(1, c);
    made += !shape.empty() && shape.find('x') == std::string_view::npos ? ",)" : ")";
    spec.remove_prefix(std::min(spec.size(), shape.size() + 1));
  }
  return text.replace(start, end - start, made + "}");
}

bool ends_here(std::string_view text, std::size_t end) {
  return end >= text.size() || std::isalnum(static_cast<unsigned char>(text[end])) == 0;
}

}  // namespace

std::string python_words(std::string_view given) {
  const std::string changed = with_profiles(given);
  const std::string_view text = changed;
  if (text.find("--") == std::string_view::npos && text.find("::") == std::string_view::npos &&
      text.find("ONNX model") == std::string_view::npos)
    return std::string(text);
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
