// LpPool: before opset 2 p was a float.
#include "onnx_ops/ai_onnx/lp_pool_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) { return with_whole_p(call); }

}  // namespace

OnnxOp onnx_ai_onnx_lp_pool() { return {.name = "LpPool", .forms = {{2}, {1, from_1}}}; }

}  // namespace tenfold::onnx_ops
