// RandomUniformLike: numbers of a uniform distribution, in the shape of the operand.
#include "onnx_ops/ai_onnx/random_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) { return uniform(call, drawn_like_operand(call)); }

}  // namespace

OnnxOp onnx_ai_onnx_random_uniform_like() { return {.name = "RandomUniformLike", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
