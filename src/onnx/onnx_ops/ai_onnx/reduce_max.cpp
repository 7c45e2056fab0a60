// ReduceMax: from opset 18 on the axes are an operand.
#include "onnx_ops/ai_onnx/integers_common.h"

namespace tenfold::onnx_ops {

OnnxOp onnx_ai_onnx_reduce_max() { return {.name = "ReduceMax", .forms = {{18, from_axes_input}, {1}}}; }

}  // namespace tenfold::onnx_ops
