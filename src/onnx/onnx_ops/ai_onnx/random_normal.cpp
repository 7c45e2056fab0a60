// RandomNormal: numbers of a normal distribution, in the shape that an attribute gives.
#include "onnx_ops/ai_onnx/random_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) { return normal(call, drawn_by_attributes(call)); }

}  // namespace

OnnxOp onnx_ai_onnx_random_normal() { return {.name = "RandomNormal", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
