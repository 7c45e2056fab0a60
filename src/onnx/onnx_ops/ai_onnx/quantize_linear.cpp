// QuantizeLinear: saturate(round(x / scale) + zero point).
#include "onnx_ops/quantize_common.h"

namespace tenfold::onnx_ops {

OnnxOp onnx_ai_onnx_quantize_linear() { return {.name = "QuantizeLinear", .forms = {{10, from_quantize_linear}}}; }

}  // namespace tenfold::onnx_ops
