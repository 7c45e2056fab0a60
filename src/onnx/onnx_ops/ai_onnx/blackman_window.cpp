// BlackmanWindow: a sum of cosines over a number of samples.
#include "onnx_ops/ai_onnx/window_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_17(OnnxImport& call) { return window(call, {0.42, 0.5, 0.08}); }

}  // namespace

OnnxOp onnx_ai_onnx_blackman_window() { return {.name = "BlackmanWindow", .forms = {{17, from_17}}}; }

}  // namespace tenfold::onnx_ops
