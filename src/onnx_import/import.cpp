// The two ways in: a file, whose folder may hold external weights, or bytes.
#include "onnx_import/import.h"

#include "base/check.h"
#include "onnx_import/importer.h"
#include "onnx_import/parse.h"

namespace tenfold::onnx_import {

ir::Graph import_bytes(std::span<const std::byte> bytes, const ImportOptions& options, const std::filesystem::path& base_dir,
                       const ir::Registry& registry) {
  onnx::ModelProto model;
  parse(bytes, model, "an ONNX model");
  ExternalData files(base_dir, options.external_data_dirs);
  return Importer(model, options, registry, files).run();
}

ir::Graph import_file(const std::filesystem::path& path, const ImportOptions& options, const ir::Registry& registry) {
  const auto file = MappedFile::open(path.string());
  const auto folder = path.parent_path();
  try {
    return import_bytes(file->bytes(), options, folder.empty() ? "." : folder, registry);
  } catch (Error& error) {
    throw error.within(path.string());
  }
}

}  // namespace tenfold::onnx_import
