// CumSum: the axis is an attribute wherever it is known when building.
#include "onnx_ops/ai_onnx/integers_common.h"

namespace tenfold::onnx_ops {

OnnxOp onnx_ai_onnx_cum_sum() { return {.name = "CumSum", .forms = {{11, from_axis_input}}}; }

}  // namespace tenfold::onnx_ops
