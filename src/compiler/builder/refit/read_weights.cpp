// The named weights of a model file.
#include "builder/model/model.h"
#include "builder/refit/refit_recorder.h"
#include "onnx_import/import.h"
#include "runtime/plugins/plugins.h"

namespace tenfold {

namespace {

std::vector<std::pair<std::string, Tensor>> weights_of(ir::Graph graph) {
  builder::RefitRecorder book;
  book.track(graph);
  std::vector<std::pair<std::string, Tensor>> weights;
  for (const builder::SharedConstant& c : book.weights()) weights.emplace_back(c->weight_name, c->tensor);
  return weights;
}

}  // namespace

std::vector<std::pair<std::string, Tensor>> read_weights(const std::string& path, const BuildConfig& config) {
  return weights_of(onnx_import::import_file(path, builder::import_options(config), runtime::registry_with(config.plugins.get())));
}
std::vector<std::pair<std::string, Tensor>> read_weights(std::span<const std::byte> onnx, const BuildConfig& config) {
  return weights_of(onnx_import::import_bytes(onnx, builder::import_options(config), {}, runtime::registry_with(config.plugins.get())));
}

}  // namespace tenfold
