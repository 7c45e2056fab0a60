// DequantizeLinear: (x - zero point) * scale.
#include "onnx_ops/quantize_common.h"

namespace tenfold::onnx_ops {

OnnxOp onnx_ai_onnx_dequantize_linear() {
  return {.name = "DequantizeLinear", .forms = {{10, from_dequantize_linear}}};
}

}  // namespace tenfold::onnx_ops
