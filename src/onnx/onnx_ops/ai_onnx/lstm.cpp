// LSTM: opsets before 7 told by an attribute whether the whole sequence is wanted.
#include "onnx_ops/ai_onnx/recurrent_common.h"

namespace tenfold::onnx_ops {

OnnxOp onnx_ai_onnx_lstm() { return {.name = "LSTM", .forms = {{1, from_recurrent}}}; }

}  // namespace tenfold::onnx_ops
