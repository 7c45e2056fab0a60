// Inputs and outputs of a model that is not built.
#include "builder/model/formats.h"
#include "builder/model/model.h"
#include "onnx_import/import.h"
#include "runtime/plugins/plugins.h"

namespace tenfold {
namespace {

std::vector<BindingInfo> bindings_of(const ir::Graph& graph, const BuildConfig& config) {
  builder::check_defaults(graph, config);
  std::vector<BindingInfo> list;
  for (const auto* values : {&graph.inputs, &graph.outputs})
    for (const ir::Value* v : *values) {
      BindingInfo info{.name = v->name, .dtype = v->dtype(), .shape = {}, .names = {}, .is_input = values == &graph.inputs};
      info.has_default = info.is_input && config.input_defaults.count(v->name) > 0;
      for (ir::Dim d : v->type.is_tensor() ? v->dims() : ir::Dims()) {
        info.shape.push_back(d.is_constant() ? d.constant() : -1);
        info.names.push_back(d.is_constant() ? "" : d.text());
      }
      list.push_back(std::move(info));
    }
  return list;
}

onnx_import::ImportOptions options_of(const BuildConfig& config) {
  onnx_import::ImportOptions options = builder::import_options(config);
  options.check_finite = false;  // weights are not looked at
  return options;
}

std::vector<BindingInfo> bindings_after(const BuildConfig& given, const builder::Import& import) {
  BuildConfig config = given;
  return bindings_of(builder::import_source(import, options_of(given), config), config);
}

}  // namespace

std::vector<BindingInfo> model_bindings(const std::string& path, const BuildConfig& given) {
  return bindings_after(given, [&](const onnx_import::ImportOptions& options) {
    return onnx_import::import_file(path, options, runtime::registry_with(given.plugins.get()));
  });
}
std::vector<BindingInfo> model_bindings(std::span<const std::byte> onnx, const BuildConfig& given) {
  return bindings_after(given, [&](const onnx_import::ImportOptions& options) {
    return onnx_import::import_bytes(onnx, options, {}, runtime::registry_with(given.plugins.get()));
  });
}

}  // namespace tenfold
