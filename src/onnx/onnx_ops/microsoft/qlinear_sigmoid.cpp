// QLinearSigmoid: Sigmoid of floats between DequantizeLinear and QuantizeLinear.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((x, x_scale, x_zero?, y_scale, y_zero?)
  p = DequantizeLinear(x, x_scale, x_zero)
  r = Sigmoid(p)
  y = QuantizeLinear(r, y_scale, y_zero)
  return y)";

}  // namespace

OnnxOp onnx_microsoft_qlinear_sigmoid() { return {.name = "QLinearSigmoid", .forms = {{1, kDefinition}}}; }

}  // namespace tenfold::onnx_ops
