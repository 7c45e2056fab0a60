// QLinearAdd: Add of floats between DequantizeLinear and QuantizeLinear.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((a, a_scale, a_zero?, b, b_scale, b_zero?, y_scale, y_zero?)
  p = DequantizeLinear(a, a_scale, a_zero)
  q = DequantizeLinear(b, b_scale, b_zero)
  r = Add(p, q)
  y = QuantizeLinear(r, y_scale, y_zero)
  return y)";

}  // namespace

OnnxOp onnx_microsoft_qlinear_add() { return {.name = "QLinearAdd", .forms = {{1, kDefinition}}}; }

}  // namespace tenfold::onnx_ops
