// Attention of ONNX Runtime: a projection, heads, masks and a cache.
//
// Operands: X, weights, bias, mask, past (keys and values in one), bias of scores. Results: Y, present.
#include "onnx_ops/microsoft/heads_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  Value* packed = plus_optional(call, one(call, "MatMul", {call.given(0), call.given(1)}), 2);
  return attend_packed(call, packed, call.in(3), call.in(4), call.in(5), 6);
}

}  // namespace

OnnxOp onnx_microsoft_attention() { return {.name = "Attention", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
