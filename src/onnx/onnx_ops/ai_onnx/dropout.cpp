// Dropout: in training it zeroes elements at random and scales the others; else it is nothing where the mask is not asked for.
#include "onnx_ops/ai_onnx/random_common.h"
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

bool wants_mask(const OnnxImport& node) { return node.outputs() > 1 && !node.output_names[1].empty(); }

std::vector<Value*> without_training(OnnxImport& node) {
  if (!wants_mask(node)) return node.add("Identity", {node.given(0)}, {});
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

// `training`: null, or a value that only the run knows. Outside of training nothing is dropped.
std::vector<Value*> with_training(OnnxImport& call, Value* training) {
  Value* x = call.given(0);
  expect_float(call, 0);
  Value* ratio = call.in(1) ? one(call, "Cast", {call.in(1)}, {{"to", "f64"}}) : call.scalar(DType::f64, 0.5);
  if (training) ratio = one(call, "Where", {training, ratio, call.scalar(DType::f64, 0)});
  Value* mask = one(call, "GreaterOrEqual", {uniform_of_seed(call, one(call, "Shape", {x})), ratio});
  Value* scale = one(call, "Div", {call.scalar(DType::f64, 1), one(call, "Sub", {call.scalar(DType::f64, 1), ratio})});
  Value* scaled = one(call, "Mul", {x, one(call, "Cast", {scale}, {{"to", std::string(name(x->dtype()))}})});
  return {one(call, "Where", {mask, scaled, call.scalar(x->dtype(), 0)}), mask};
}

std::vector<Value*> from_12(OnnxImport& node) {
  Value* training = node.in(2);
  if (!training) return without_training(node);
  if (!training->is_constant()) return with_training(node, training);
  const Tensor& known = training->constant->tensor;
  check_shape(known.size() == 1, "training_mode has ", known.size(), " elements, one expected");
  return known.as_int(0) == 0 ? without_training(node) : with_training(node, nullptr);
}

}  // namespace

OnnxOp onnx_ai_onnx_dropout() {
  return {.name = "Dropout", .forms = {{12, from_12}, {10, without_training}, {1, from_1}}};
}

}  // namespace tenfold::onnx_ops
