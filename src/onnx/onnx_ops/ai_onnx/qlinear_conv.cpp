// QLinearConv: a convolution in floats between DequantizeLinear and QuantizeLinear.
#include "onnx_ops/quantize_common.h"

namespace tenfold::onnx_ops {

OnnxOp onnx_ai_onnx_qlinear_conv() { return {.name = "QLinearConv", .forms = {{10, quantized_convolution}}}; }

}  // namespace tenfold::onnx_ops
