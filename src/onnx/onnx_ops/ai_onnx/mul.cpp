// Mul: until opset 7 an attribute said where in the first operand the second one lies.
#include "onnx_ops/ai_onnx/axis_broadcast_common.h"

namespace tenfold::onnx_ops {

OnnxOp onnx_ai_onnx_mul() { return {.name = "Mul", .forms = {{7}, {1, from_axis_broadcast}}}; }

}  // namespace tenfold::onnx_ops
