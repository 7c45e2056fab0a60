// MatMulIntegerToFloat: a product of integers as floats.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((a, b, a_scale, b_scale, a_zero?, b_zero?, bias?)
  r = MatMulInteger(a, b, a_zero, b_zero)
  f = Cast(r) to=@type(b_scale)
  scale = Mul(a_scale, b_scale)
  p = Mul(f, scale)
  y = Add(p, bias) if bias else p
  return y)";

}  // namespace

OnnxOp onnx_microsoft_matmul_integer_to_float() {
  return {.name = "MatMulIntegerToFloat", .forms = {{1, kDefinition}}};
}

}  // namespace tenfold::onnx_ops
