// ONNX in: a file or bytes become a verified ir::Graph, or one error that names everything that is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "ir/op_def.h"

namespace tenfold::onnx_import {

struct ImportOptions {
  // Folders besides the model's own that external weights may lie in (a hub's cache, say): --externalDataDir=DIR.
  std::vector<std::filesystem::path> external_data_dirs = {};
  // Shapes of inputs by name; -1 leaves a dimension as the model has it. A named dimension fixed here is fixed everywhere.
  std::map<std::string, Shape, std::less<>> input_shapes = {};
  // Values of initializers, by name, in the place of the file's: of their type and shape, or their bytes as u8.
  std::map<std::string, Tensor, std::less<>> initializers = {};
  // Initializers that are inputs, too, by name, "*": all. They become inputs, and `defaults`, which must be there, gets their values.
  std::vector<std::string> overridable = {};
  std::map<std::string, Tensor>* defaults = nullptr;
  bool check_finite = true;                             // warn of NaN and infinity in float weights
  // After functions are inlined and bodies read: a small file can ask for much by calls of functions in functions.
  std::int64_t max_nodes = 1'000'000;
  std::int64_t max_unfolded = 1 << 16, max_unfolded_each = 64;   // nodes more than the file has; and for each that it has
  std::int64_t max_operands = 20'000'000;               // operands, results and attributes of nodes and of functions at each call
  std::int64_t max_name_bytes = 512 << 20;              // of nodes and values, with the names of what they are in
  std::int64_t max_shape_bytes = 256 << 20;             // of the expressions that are shapes, and elements of shapes, as text
  Log log = {};
};

ir::Graph import_file(const std::filesystem::path& path, const ImportOptions& options = {},
                      const ir::Registry& registry = ir::Registry::builtin());
// `path`: of the file that has these bytes, beside which external weights may lie. Empty: only in options.external_data_dirs.
ir::Graph import_bytes(std::span<const std::byte> bytes, const ImportOptions& options = {}, const std::filesystem::path& path = {},
                       const ir::Registry& registry = ir::Registry::builtin());

// Of the model's own graph, bodies and functions not counted.
std::int64_t count_nodes(std::span<const std::byte> bytes);

}  // namespace tenfold::onnx_import
