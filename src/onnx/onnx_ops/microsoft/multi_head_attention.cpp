// MultiHeadAttention: heads, masks and a cache; queries, keys and values apart.
//
// Operands: Q, K, V, bias, mask of keys, bias of scores, past keys, past values. Results: Y, present keys, present values.
#include "onnx_ops/microsoft/heads_common.h"

namespace tenfold::onnx_ops {
namespace {

// Operand i as heads, with its part of the common bias, which is cut at `first`.
Value* projected(Heads& heads, int i, std::int64_t first) {
  OnnxImport& call = heads.call;
  const int rank = known_rank(call, i);
  supported(rank == 3 || (rank == 4 && i > 0), "operand ", i, " has rank ", rank, ", 3 expected");
  if (rank == 4) return call.in(i);   // heads lie apart already
  Value* value = call.in(i);
  if (call.in(3)) {
    const Dim size = value->dims()[2];
    supported(size.is_constant(), "the extent of operand ", i, " is not known");
    Value* part = one(call, "Slice", {call.in(3), call.ints({first}), call.ints({first + size.constant()}), call.ints({0})});
    value = one(call, "Add", {value, part});
  }
  return heads.apart(value);
}

std::int64_t width(OnnxImport& call, int i) {
  const Dims& dims = call.in(i)->dims();
  return dims.size() == 3 && dims[2].is_constant() ? dims[2].constant() : 0;
}

std::vector<Value*> from_1(OnnxImport& call) {
  Heads heads(call);
  heads.expect_own_cache(8);
  supported(call.in(1) && call.in(2), "queries, keys and values in one tensor are not supported");
  for (int i = 0; i < 3; ++i) known_rank(call, i);
  heads.q = projected(heads, 0, 0);
  heads.k = projected(heads, 1, width(call, 0));
  heads.v = projected(heads, 2, width(call, 0) + width(call, 1));
  heads.mask = call.in(4), heads.score_bias = call.in(5), heads.past_k = call.in(6), heads.past_v = call.in(7);
  Value* y = heads.attend();
  return {y, heads.k, heads.v};
}

}  // namespace

OnnxOp onnx_microsoft_multi_head_attention() { return {.name = "MultiHeadAttention", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
