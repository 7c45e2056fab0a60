// RandomNormalLike: numbers of a normal distribution, in the shape of the operand.
#include "onnx_ops/ai_onnx/random_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) { return normal(call, drawn_like_operand(call)); }

}  // namespace

OnnxOp onnx_ai_onnx_random_normal_like() { return {.name = "RandomNormalLike", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
