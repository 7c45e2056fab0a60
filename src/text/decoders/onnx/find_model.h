// Which ONNX file a path means, and what lies beside it: the tokenizer, and files that say what the graph does not.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace tenfold::decoders::onnx {

struct Place {
  std::string file;       // the .onnx
  std::string folder;     // with the tokenizer and the configuration: the file's own, or the one above it
};

// Of a path that is an .onnx file, or a folder with one and without safetensors. Nothing where it is another folder. Throws
// invalid_argument where a folder has several and none is called model.onnx, io where the file or its tokenizer is missing.
std::optional<Place> find_model(const std::string& path);

}  // namespace tenfold::decoders::onnx
