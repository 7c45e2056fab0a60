// Inputs and outputs of a model that is not built.
#include "builder/builder.h"
#include "onnx_import/import.h"
#include "runtime/plugins.h"

namespace tenfold {
namespace {

std::vector<BindingInfo> bindings_of(const ir::Graph& graph) {
  std::vector<BindingInfo> list;
  for (const auto* values : {&graph.inputs, &graph.outputs})
    for (const ir::Value* v : *values) {
      BindingInfo info{.name = v->name, .dtype = v->dtype(), .shape = {}, .names = {}, .is_input = values == &graph.inputs};
      for (ir::Dim d : v->dims()) {
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

}  // namespace

std::vector<BindingInfo> model_bindings(const std::string& path, const BuildConfig& config) {
  return bindings_of(onnx_import::import_file(path, options_of(config), runtime::registry_with(config.plugins.get())));
}
std::vector<BindingInfo> model_bindings(std::span<const std::byte> onnx, const BuildConfig& config) {
  return bindings_of(onnx_import::import_bytes(onnx, options_of(config), {}, runtime::registry_with(config.plugins.get())));
}

}  // namespace tenfold
