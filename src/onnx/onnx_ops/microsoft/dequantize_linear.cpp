// DequantizeLinear of ONNX Runtime: (x - zero point) * scale.
#include "onnx_ops/quantize_common.h"

namespace tenfold::onnx_ops {

OnnxOp onnx_microsoft_dequantize_linear() {
  return {.name = "DequantizeLinear", .forms = {{1, from_dequantize_linear}}};
}

}  // namespace tenfold::onnx_ops
