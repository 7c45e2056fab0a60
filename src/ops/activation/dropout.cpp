// Dropout: outside of training its operand unchanged, and a mask that keeps everything.
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  operand_type(node, Operands::floats);
  BodyBuilder b = body_builder(node);
  return b.finish({0, b.constant(DType::boolean, 1)});
}

std::vector<Value*> without_training(OnnxImport& node) {
  if (node.outputs() < 2 || node.output_names[1].empty()) return node.add("Identity", {node.need(0)}, {});
  return node.add("Dropout", {node.need(0)}, {}, 2);
}

// Before opset 10 the mask has the type of the data.
std::vector<Value*> from_1(OnnxImport& node) {
  require(node.opset() >= 7 || node.attributes.integer("is_test", 0) != 0 || node.outputs() < 2, ErrorKind::unsupported,
          "Dropout with a mask is only supported for inference (is_test=1)");
  std::vector<Value*> results = without_training(node);
  if (results.size() > 1) results[1] = node.graph().make("Cast", {results[1]}, {{"to", std::string(name(node.need(0)->dtype()))}});
  return results;
}

std::vector<Value*> from_12(OnnxImport& node) {
  if (node.in(2)) {
    const Tensor& training = node.constant(2, "training_mode of Dropout");
    require(training.size() == 1 && training.as_int(0) == 0, ErrorKind::unsupported,
            "Dropout is in training mode; export the model for inference");
  }
  return without_training(node);
}

}  // namespace

OpDef op_dropout() {
  return pointwise({.name = "Dropout",
                    .max_outputs = 2,
                    .scalar = scalar,
                    .from_onnx = {{"Dropout", 12, from_12}, {"Dropout", 10, without_training}, {"Dropout", 1, from_1}},
                    .cases = {"f32[2,3,5] outputs=2", "f32[]", "f16[0,4] outputs=2"}});
}

}  // namespace tenfold::ir
