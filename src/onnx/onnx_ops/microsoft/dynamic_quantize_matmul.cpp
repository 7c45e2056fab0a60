// DynamicQuantizeMatMul: a product of integers, of which A is made at the run, as floats.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((a, b, b_scale, b_zero?, bias?)
  q, a_scale, a_zero = DynamicQuantizeLinear(a)
  r = MatMulInteger(q, b, a_zero, b_zero)
  f = Cast(r) to=@type(b_scale)
  scale = Mul(a_scale, b_scale)
  p = Mul(f, scale)
  y = Add(p, bias) if bias else p
  return y)";

}  // namespace

OnnxOp onnx_microsoft_dynamic_quantize_matmul() {
  return {.name = "DynamicQuantizeMatMul", .forms = {{1, kDefinition}}};
}

}  // namespace tenfold::onnx_ops
