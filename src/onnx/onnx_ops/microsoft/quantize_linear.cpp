// QuantizeLinear of ONNX Runtime: saturate(round(x / scale) + zero point).
#include "onnx_ops/quantize_common.h"

namespace tenfold::onnx_ops {

OnnxOp onnx_microsoft_quantize_linear() { return {.name = "QuantizeLinear", .forms = {{1, from_quantize_linear}}}; }

}  // namespace tenfold::onnx_ops
