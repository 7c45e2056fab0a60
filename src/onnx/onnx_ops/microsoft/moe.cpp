// MoE: a mixture of experts.
#include "onnx_ops/microsoft/experts_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  return mixed_experts(call, {call.given(2), call.in(3)}, {call.given(4), call.in(5)}, {call.in(6), call.in(7)}, nullptr);
}

}  // namespace

OnnxOp onnx_microsoft_moe() { return {.name = "MoE", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
