// What an ONNX file says of itself beside its graph: who made it, and the texts that its tools left in it, such as names of classes.
// Nothing of the graph is read but its name. Any thread may call at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "tenfold/export.h"

namespace tenfold {

// Texts are empty where the file has none.
struct ModelMetadata {
  std::string producer_name, producer_version, domain, description;
  std::string graph_name, graph_description;
  std::optional<std::int64_t> version;              // of the model, as its makers count
  std::map<std::string, std::string> properties;    // of a key that stands twice, the last
};

// Throws Error(io) for a path that cannot be read, Error(invalid_model) for what is no ONNX model.
TENFOLD_API ModelMetadata model_metadata(const std::string& onnx_path);
TENFOLD_API ModelMetadata model_metadata(std::span<const std::byte> onnx);

}  // namespace tenfold
