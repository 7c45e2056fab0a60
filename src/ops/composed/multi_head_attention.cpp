// Attention and MultiHeadAttention of ONNX Runtime's optimiser: projections (of the first), heads, masks and a cache.
//
// Attention:           X, weights, bias, mask, past (keys and values in one), bias of scores.  Results: Y, present.
// QAttention:          X, weights, bias, both scales, mask, both zero points, past; of integers. Results: as of Attention.
// MultiHeadAttention:  Q, K, V, bias, mask of keys, bias of scores, past keys, past values.    Results: Y, present keys, present values.
#include <cmath>

#include "ops/composed/composed_common.h"

namespace tenfold::ir {
namespace {

using ops::one;

struct Heads {
  OnnxImport& call;
  std::int64_t count;
  Value *q = nullptr, *k = nullptr, *v = nullptr;              // [batch, heads, rows, size]
  Value *mask = nullptr, *score_bias = nullptr, *past_k = nullptr, *past_v = nullptr;

  explicit Heads(OnnxImport& c) : call(c), count(c.attributes.integer("num_heads", 0)) {
    require(count > 0, ErrorKind::invalid_model, "num_heads is ", count);
    for (const char* flag : {"do_rotary", "past_present_share_buffer"})
      require(call.attributes.integer(flag, 0) == 0, ErrorKind::unsupported, flag, " is not supported");
  }
  // Operands from `first` on say how much of a cache counts that the results share: ignored, they would give wrong numbers.
  void expect_own_cache(int first) const {
    for (int i = first; i < static_cast<int>(call.inputs.size()); ++i)
      require(!call.in(i), ErrorKind::unsupported, "operand ", i, " (of a cache that past and present share) is not supported");
  }
  // [batch, rows, heads * size] with the heads apart.
  Value* apart(Value* value) const {
    return ops::transposed(call, ops::reshaped(call, value, {0, 0, count, -1}), {0, 2, 1, 3});
  }
  float masked() const { return call.attributes.number("mask_filter_value", -10000.0f); }
  // What is added to a score: nothing, or what hides it.
  Value* hiding(Value* keeps) const {
    return one(call, "Where", {keeps, call.scalar(q->dtype(), 0), call.scalar(q->dtype(), masked())});
  }
  // Of each key of a sentence, or of each pair: i32 or boolean; one number for each sentence says how many of its keys count.
  Value* mask_addend() const {
    require(mask->type.ranked && mask->rank() <= 3 && mask->rank() > 0, ErrorKind::unsupported, "a mask of that rank is not supported");
    if (mask->rank() == 1) {
      require(mask->dims()[0] == q->dims()[0], ErrorKind::unsupported, "a mask of shape [", text(mask->dims()), "] for a batch of ",
              q->dims()[0].text(), " is not supported: one length for each sentence is");
      Value* keys = ops::unsqueezed(call, ops::counted(call, ops::extent(call, k, 2)), {0});
      Value* lengths = ops::unsqueezed(call, one(call, "Cast", {mask}, {{"to", "i64"}}), {1});
      return hiding(ops::unsqueezed(call, one(call, "Less", {keys, lengths}), {1, 2}));
    }
    Value* keeps = mask->dtype() == DType::boolean ? mask : one(call, "Greater", {mask, call.scalar(mask->dtype(), 0)});
    return hiding(ops::unsqueezed(call, keeps, mask->rank() == 2 ? Ints{1, 2} : Ints{1}));
  }
  // Row s sees keys up to s, behind those of the cache.
  Value* causal_addend() const {
    Value* rows = one(call, "Add", {ops::counted(call, ops::extent(call, q, 2)), ops::extent(call, past_k, 2)});
    Value* keys = ops::counted(call, ops::extent(call, k, 2));
    return hiding(one(call, "LessOrEqual", {ops::unsqueezed(call, keys, {0}), ops::unsqueezed(call, rows, {1})}));
  }
  Value* attend() {
    if (past_k) k = one(call, "Concat", {past_k, k}, {{"axis", 2}});
    if (past_v) v = one(call, "Concat", {past_v, v}, {{"axis", 2}});
    require(q->dims()[3].is_constant(), ErrorKind::unsupported, "the size of heads is not known");
    const bool causal = call.attributes.integer("unidirectional", 0) != 0;
    Value* bias = mask ? mask_addend() : nullptr;
    for (Value* more : {score_bias, causal && past_k ? causal_addend() : nullptr})
      if (more) bias = bias ? one(call, "Add", {bias, more}) : more;
    const float given = call.attributes.number("scale", 0.0f);
    const float scale = given != 0 ? given : static_cast<float>(1 / std::sqrt(static_cast<double>(q->dims()[3].constant())));
    std::vector<Value*> operands{q, k, v};
    if (bias) operands.push_back(bias);
    Value* y = one(call, "FusedAttention", operands, {{"scale", scale}, {"causal", std::int64_t{causal && !past_k}}});
    return ops::reshaped(call, ops::transposed(call, y, {0, 2, 1, 3}), {0, 0, -1});
  }
};

// [2, batch, heads, rows, size], half i.
Value* half(OnnxImport& call, Value* both, std::int64_t i) {
  return one(call, "Gather", {both, call.scalar(DType::i64, static_cast<double>(i))}, {{"axis", 0}});
}

// From [batch, rows, queries + keys + values].
std::vector<Value*> attend_packed(OnnxImport& call, Value* packed, Value* mask, Value* past, Value* score_bias) {
  Heads heads(call);
  heads.expect_own_cache(call.op() == "Attention" ? 6 : 9);
  require(packed->type.ranked && packed->rank() == 3 && packed->dims()[2].is_constant(), ErrorKind::unsupported,
          "inputs of another rank than 3, or weights of unknown size");
  const std::int64_t all = packed->dims()[2].constant();
  const Ints sizes = call.attributes.ints("qkv_hidden_sizes", {all / 3, all / 3, all / 3});
  require(sizes.size() == 3, ErrorKind::invalid_model, "qkv_hidden_sizes has ", sizes.size(), " values, 3 expected");
  std::int64_t rest = all;   // a sum could overflow
  for (std::int64_t size : sizes) {
    require(size > 0 && size <= rest, ErrorKind::invalid_model, "qkv_hidden_sizes ", text(sizes), " do not divide ", all, " columns");
    rest -= size;
  }
  require(rest == 0, ErrorKind::invalid_model, "qkv_hidden_sizes ", text(sizes), " leave ", rest, " of ", all, " columns");
  const std::vector<Value*> parts = call.add("Split", {packed, call.ints(sizes)}, {{"axis", -1}}, 3);
  heads.q = heads.apart(parts[0]), heads.k = heads.apart(parts[1]), heads.v = heads.apart(parts[2]);
  heads.mask = mask, heads.score_bias = score_bias;
  if (past) heads.past_k = half(call, past, 0), heads.past_v = half(call, past, 1);
  Value* y = heads.attend();
  if (call.outputs() < 2) return {y};
  return {y, one(call, "Concat", {ops::unsqueezed(call, heads.k, {0}), ops::unsqueezed(call, heads.v, {0})}, {{"axis", 0}})};
}

std::vector<Value*> attention(OnnxImport& call) {
  Value* packed = ops::plus_optional(call, one(call, "MatMul", {call.need(0), call.need(1)}), 2);
  return attend_packed(call, packed, call.in(3), call.in(4), call.in(5));
}

std::vector<Value*> quantized(OnnxImport& call) {
  Value* packed = ops::integer_product(call, {call.need(0), call.need(3), call.in(6)}, {call.need(1), call.need(4), call.in(7)}, 2);
  return attend_packed(call, packed, call.in(5), call.in(8), nullptr);
}

// Operand i as heads, with its part of the common bias, which is cut at `first`.
Value* projected(Heads& heads, int i, std::int64_t first) {
  OnnxImport& call = heads.call;
  const int rank = ops::known_rank(call, i);
  require(rank == 3 || (rank == 4 && i > 0), ErrorKind::unsupported, "operand ", i, " has rank ", rank, ", 3 expected");
  if (rank == 4) return call.in(i);   // heads lie apart already
  Value* value = call.in(i);
  if (call.in(3)) {
    const Dim size = value->dims()[2];
    require(size.is_constant(), ErrorKind::unsupported, "the extent of operand ", i, " is not known");
    Value* part = one(call, "Slice", {call.in(3), call.ints({first}), call.ints({first + size.constant()}), call.ints({0})});
    value = one(call, "Add", {value, part});
  }
  return heads.apart(value);
}

std::int64_t width(OnnxImport& call, int i) {
  const Dims& dims = call.in(i)->dims();
  return dims.size() == 3 && dims[2].is_constant() ? dims[2].constant() : 0;
}

std::vector<Value*> multi_head(OnnxImport& call) {
  Heads heads(call);
  heads.expect_own_cache(8);
  require(call.in(1) && call.in(2), ErrorKind::unsupported, "queries, keys and values in one tensor are not supported");
  for (int i = 0; i < 3; ++i) ops::known_rank(call, i);
  heads.q = projected(heads, 0, 0);
  heads.k = projected(heads, 1, width(call, 0));
  heads.v = projected(heads, 2, width(call, 0) + width(call, 1));
  heads.mask = call.in(4), heads.score_bias = call.in(5), heads.past_k = call.in(6), heads.past_v = call.in(7);
  Value* y = heads.attend();
  return {y, heads.k, heads.v};
}

}  // namespace

OpDef op_multi_head_attention() {
  return ops::composed({{"MultiHeadAttention", 1, multi_head, ops::kMicrosoft}, {"Attention", 1, attention, ops::kMicrosoft},
                        {"QAttention", 1, quantized, ops::kMicrosoft}});
}

}  // namespace tenfold::ir
