// QAttention: Attention whose projection is of integers.
//
// Operands: X, weights, bias, both scales, mask, both zero points, past. Results: Y, present.
#include "onnx_ops/microsoft/heads_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  Value* packed = integer_product(call, {call.given(0), call.given(3), call.in(6)}, {call.given(1), call.given(4), call.in(7)}, 2);
  return attend_packed(call, packed, call.in(5), call.in(8), nullptr, 9);
}

}  // namespace

OnnxOp onnx_microsoft_qattention() { return {.name = "QAttention", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
