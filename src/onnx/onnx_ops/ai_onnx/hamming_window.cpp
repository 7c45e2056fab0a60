// HammingWindow: a sum of cosines over a number of samples.
#include "onnx_ops/ai_onnx/window_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_17(OnnxImport& call) { return window(call, {25.0 / 46, 1 - 25.0 / 46}); }

}  // namespace

OnnxOp onnx_ai_onnx_hamming_window() { return {.name = "HammingWindow", .forms = {{17, from_17}}}; }

}  // namespace tenfold::onnx_ops
