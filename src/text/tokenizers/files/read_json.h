// The one place where JSON of files becomes values: tokenizers, configurations, tables of safetensors.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace tenfold::tokenizing {

// A value takes up to some hundred bytes of memory, an empty list one byte of a file: so both are bounded, and looked at
// before anything is made.
struct JsonLimits {
  std::size_t bytes = std::size_t{512} << 20;
  std::size_t values = std::size_t{1} << 23;   // the largest vocabularies with merges have two millions
  int depth = 128;                             // lists and objects inside each other
};

// Throws invalid_model, `what` first, for text that is no JSON or beyond a limit.
nlohmann::json parsed(std::string_view text, const std::string& what, const JsonLimits& limits = {});

}  // namespace tenfold::tokenizing
