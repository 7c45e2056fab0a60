// The two ways in: a file, whose folder may hold external weights, or bytes.
#include "onnx_import/import.h"

#include <cstring>

#include "base/check.h"
#include "onnx_import/importer.h"
#include "onnx_import/read_messages.h"
#include "tenfold/internal/as_error.h"

namespace tenfold::onnx_import {

namespace {

// What is taken for a model by mistake.
bool is_plan(std::span<const std::byte> bytes) {
  constexpr std::string_view kMagic = "\x89TFPLAN\n";
  return bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

ir::Graph import(std::span<const std::byte> bytes, const ImportOptions& options, const std::filesystem::path& path,
                 const ir::Registry& registry) {
  return as_error([&] {
    require(!is_plan(bytes), ErrorKind::invalid_model,
            "this is a plan of Tenfold, which is loaded and not built: Engine::load (--loadEngine=FILE)");
    std::vector<std::string> unknown;
    const onnx::ModelProto model = read_model(bytes, &unknown);
    for (const std::string& field : unknown)
      options.log(Severity::warning, "the model has ", field, ", which the ONNX known here does not define; it is ignored");
    ExternalData files(path, options.external_data_dirs);
    DeferredCopies later;
    return Importer(model, options, registry, files, later).run();
  });
}

}  // namespace

std::int64_t count_nodes(std::span<const std::byte> bytes) {
  const onnx::ModelProto model = read_model(bytes, nullptr);
  return model.graph ? static_cast<std::int64_t>(model.graph->node.size()) : 0;
}

ir::Graph import_bytes(std::span<const std::byte> bytes, const ImportOptions& options, const std::filesystem::path& path,
                       const ir::Registry& registry) {
  return import(bytes, options, path, registry);
}

ir::Graph import_file(const std::filesystem::path& path, const ImportOptions& options, const ir::Registry& registry) {
  const auto file = MappedFile::read(path.string());
  try {
    return import(file->bytes(), options, path, registry);
  } catch (Error& error) {
    error.within(path.string());
    throw;   // as what it is: a ModelError keeps its problems
  }
}

}  // namespace tenfold::onnx_import
