// QLinearWhere: Where of floats between DequantizeLinear and QuantizeLinear.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((condition, x, x_scale, x_zero, y, y_scale, y_zero, z_scale, z_zero)
  p = DequantizeLinear(x, x_scale, x_zero)
  q = DequantizeLinear(y, y_scale, y_zero)
  r = Where(condition, p, q)
  z = QuantizeLinear(r, z_scale, z_zero)
  return z)";

}  // namespace

OnnxOp onnx_microsoft_qlinear_where() { return {.name = "QLinearWhere", .forms = {{1, kDefinition}}}; }

}  // namespace tenfold::onnx_ops
