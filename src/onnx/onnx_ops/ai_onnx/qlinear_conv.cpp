// QLinearConv: a convolution in floats between DequantizeLinear and QuantizeLinear.
#include "onnx_ops/quantize_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_10(OnnxImport& call) {
  std::vector<Value*> operands{dequantized_along(call, 0, 1), dequantized_along(call, 3, 0)};
  if (call.in(8)) {
    Value* scale = call.add("Mul", {call.given(1), call.given(4)}, {})[0];
    operands.push_back(call.add("DequantizeLinear", {call.in(8), scale}, {{"axis", 0}})[0]);
  }
  return requantized_along(call, call.add("Conv", operands, call.attributes)[0], 1);
}

}  // namespace

OnnxOp onnx_ai_onnx_qlinear_conv() { return {.name = "QLinearConv", .forms = {{10, from_10}}}; }

}  // namespace tenfold::onnx_ops
