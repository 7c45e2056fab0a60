// SwiGLU: Swish of the first operand times the second.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_28(OnnxImport& call) {
  Value *gate = call.given(0), *linear = call.given(1);
  expect_float(call, 0);
  if (gate->type.ranked && linear->type.ranked)
    check_shape(gate->rank() == linear->rank(), "the gate has rank ", gate->rank(), ", the other operand ", linear->rank());
  return call.add("Mul", {one(call, "Swish", {gate}, {{"alpha", call.attributes.number("alpha", 1.0f)}}), linear}, {});
}

}  // namespace

OnnxOp onnx_ai_onnx_swiglu() { return {.name = "SwiGLU", .forms = {{28, from_28}}}; }

}  // namespace tenfold::onnx_ops
