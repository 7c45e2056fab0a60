// What an ONNX file says about itself beside its graph: who made it, and texts that tools left in it, such as names of
// classes. Of the graph, only name and description are read. Thread safe.
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
  std::map<std::string, std::string> properties;    // if a key stands twice, the last one counts
};

// Throw Error(io) for a path that cannot be read, and Error(invalid_model) for bytes that are no ONNX model.
TENFOLD_API ModelMetadata model_metadata(const std::string& onnx_path);
TENFOLD_API ModelMetadata model_metadata(std::span<const std::byte> onnx);

}  // namespace tenfold
