// Dropout: only as it is outside of training, which is nothing where the mask is not asked for.
#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> without_training(OnnxImport& node) {
  if (node.outputs() < 2 || node.output_names[1].empty()) return node.add("Identity", {node.given(0)}, {});
  return node.add("Dropout", {node.given(0)}, {}, 2);
}

// Before opset 10 the mask has the type of the data.
std::vector<Value*> from_1(OnnxImport& node) {
  supported(node.opset() >= 7 || node.attributes.integer("is_test", 0) != 0 || node.outputs() < 2,
            "Dropout with a mask is only supported for inference (is_test=1)");
  std::vector<Value*> results = without_training(node);
  if (results.size() > 1) results[1] = node.graph().make("Cast", {results[1]}, {{"to", std::string(name(node.given(0)->dtype()))}});
  return results;
}

std::vector<Value*> from_12(OnnxImport& node) {
  if (node.in(2)) {
    const Tensor& training = node.constant(2, "training_mode of Dropout");
    supported(training.size() == 1 && training.as_int(0) == 0, "Dropout is in training mode; export the model for inference");
  }
  return without_training(node);
}

}  // namespace

OnnxOp onnx_ai_onnx_dropout() {
  return {.name = "Dropout", .forms = {{12, from_12}, {10, without_training}, {1, from_1}}};
}

}  // namespace tenfold::onnx_ops
