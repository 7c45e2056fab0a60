// Hardmax: before opset 13 of rows of a matrix.
#include "onnx_ops/ai_onnx/flattened_common.h"

namespace tenfold::onnx_ops {

OnnxOp onnx_ai_onnx_hardmax() { return {.name = "Hardmax", .forms = {{13}, {1, from_flattened}}}; }

}  // namespace tenfold::onnx_ops
