// QGemm: Gemm of floats between DequantizeLinear and, if the result has a scale, QuantizeLinear.
#include "onnx_ops/microsoft/qlinear_common.h"

namespace tenfold::onnx_ops {
namespace {

// The bias is quantized by the scales of both operands; without a scale the result stays float.
std::vector<Value*> from_1(OnnxImport& call) {
  const std::int64_t turned_b = call.attributes.integer("transB", 0);
  Value* b = one(call, "DequantizeLinear", {call.given(3), call.given(4), call.in(5)}, {{"axis", turned_b ? 0 : 1}});
  std::vector<Value*> operands{real(call, 0), b};
  if (call.in(6)) {
    Value* scale = one(call, "Mul", {call.given(1), call.given(4)});
    const float alpha = call.attributes.number("alpha", 1.0f);
    if (alpha != 1) scale = one(call, "Mul", {scale, call.scalar(scale->dtype(), alpha)});
    operands.push_back(one(call, "DequantizeLinear", {call.in(6), scale}, {{"axis", known_rank(call, 6) - 1}}));
  }
  Value* y = one(call, "Gemm", operands, call.attributes);
  return call.in(7) ? rounded(call, y, 7) : std::vector<Value*>{y};
}

}  // namespace

OnnxOp onnx_microsoft_qgemm() { return {.name = "QGemm", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
