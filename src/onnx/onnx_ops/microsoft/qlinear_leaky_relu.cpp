// QLinearLeakyRelu: LeakyRelu of floats between DequantizeLinear and QuantizeLinear.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((x, x_scale, x_zero?, y_scale, y_zero?) alpha=0.01
  p = DequantizeLinear(x, x_scale, x_zero)
  r = LeakyRelu(p) alpha=@alpha
  y = QuantizeLinear(r, y_scale, y_zero)
  return y)";

}  // namespace

OnnxOp onnx_microsoft_qlinear_leaky_relu() { return {.name = "QLinearLeakyRelu", .forms = {{1, kDefinition}}}; }

}  // namespace tenfold::onnx_ops
