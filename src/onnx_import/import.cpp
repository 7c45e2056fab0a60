// The two ways in: a file, whose folder may hold external weights, or bytes.
#include "onnx_import/import.h"

#include "base/check.h"
#include "onnx_import/importer.h"
#include "onnx_import/parse.h"

namespace tenfold::onnx_import {

namespace {

ir::Graph import(std::span<const std::byte> bytes, bool mapped, const ImportOptions& options, const std::filesystem::path& base_dir,
                 const ir::Registry& registry) {
  onnx::ModelProto model;
  LargeData large(mapped);
  const std::string rest = large.take_from(bytes);
  parse(rest.empty() ? bytes : std::as_bytes(std::span(rest)), model, "an ONNX model");
  ExternalData files(base_dir, options.external_data_dirs);
  return Importer(model, options, registry, files, large).run();
}

}  // namespace

ir::Graph import_bytes(std::span<const std::byte> bytes, const ImportOptions& options, const std::filesystem::path& base_dir,
                       const ir::Registry& registry) {
  return import(bytes, false, options, base_dir, registry);
}

ir::Graph import_file(const std::filesystem::path& path, const ImportOptions& options, const ir::Registry& registry) {
  const auto file = MappedFile::open(path.string());
  const auto folder = path.parent_path();
  try {
    return import(file->bytes(), true, options, folder.empty() ? "." : folder, registry);
  } catch (Error& error) {
    throw error.within(path.string());
  }
}

}  // namespace tenfold::onnx_import
