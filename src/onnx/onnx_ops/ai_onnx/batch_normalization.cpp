// BatchNormalization: up to opset 13 further outputs held training statistics, and spatial=0 asked for statistics of every single
// position.
#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  supported(call.outputs() <= 1, "training outputs of BatchNormalization before opset 14");
  const bool spatial = call.attributes.integer("spatial", 1) != 0;
  const float epsilon = call.attributes.number("epsilon", 1e-5f);
  if (spatial) return call.add("BatchNormalization", call.inputs, {{"epsilon", epsilon}});
  Value* centered = call.add("Sub", {call.given(0), call.given(3)}, {})[0];
  Value* shifted = call.add("Add", {call.given(4), call.scalar(call.in(4)->dtype(), epsilon)}, {})[0];
  Value* deviation = call.add("Sqrt", {shifted}, {})[0];
  Value* scaled = call.add("Mul", {call.add("Div", {centered, deviation}, {})[0], call.given(1)}, {})[0];
  return call.add("Add", {scaled, call.given(2)}, {});
}

}  // namespace

OnnxOp onnx_ai_onnx_batch_normalization() { return {.name = "BatchNormalization", .forms = {{14}, {1, from_1}}}; }

}  // namespace tenfold::onnx_ops
