// What config.json, generation_config.json and genai_config.json beside an ONNX file say; any of them may be missing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenfold::decoders::onnx {

struct Config {
  std::string type;                        // "llama"; "onnx" where nothing says it
  std::int64_t places = 0;                 // tokens that a sequence may have; 0: nothing says it
  std::int64_t layers = 0, heads = 0, size = 0;   // heads of keys and values, elements of a head; 0: nothing says it
  std::vector<std::int32_t> end_tokens;
};

Config read_config(const std::string& folder);   // throws invalid_model, naming the field

}  // namespace tenfold::decoders::onnx
