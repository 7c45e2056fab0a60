// Heads of attention: taken apart, masked, and given to FusedAttention.
#include "onnx_ops/microsoft/heads_common.h"

#include <cmath>

namespace tenfold::onnx_ops {

Heads::Heads(OnnxImport& c) : call(c), count(c.attributes.integer("num_heads", 0)) {
  validate(count > 0, "num_heads is ", count);
  for (const char* flag : {"do_rotary", "past_present_share_buffer"})
    supported(call.attributes.integer(flag, 0) == 0, flag, " is not supported");
}

void Heads::expect_own_cache(int first) const {
  for (int i = first; i < static_cast<int>(call.inputs.size()); ++i)
    supported(!call.in(i), "operand ", i, " (of a cache that past and present share) is not supported");
}

Value* Heads::apart(Value* value) const {
  return transposed(call, reshaped(call, value, {0, 0, count, -1}), {0, 2, 1, 3});
}

// What is added to a score: nothing, or what hides it.
Value* Heads::hiding(Value* keeps) const {
  return one(call, "Where", {keeps, call.scalar(q->dtype(), 0), call.scalar(q->dtype(), masked())});
}

// Of each key of a sentence, or of each pair: i32 or boolean; one number for each sentence says how many of its keys count.
Value* Heads::mask_addend() const {
  supported(mask->type.ranked && mask->rank() <= 3 && mask->rank() > 0, "a mask of that rank is not supported");
  if (mask->rank() == 1) {
    supported(mask->dims()[0] == q->dims()[0], "a mask of shape [", text(mask->dims()), "] for a batch of ", q->dims()[0].text(),
              " is not supported: one length for each sentence is");
    Value* keys = unsqueezed(call, counted(call, extent(call, k, 2)), {0});
    Value* lengths = unsqueezed(call, one(call, "Cast", {mask}, {{"to", "i64"}}), {1});
    return hiding(unsqueezed(call, one(call, "Less", {keys, lengths}), {1, 2}));
  }
  Value* keeps = mask->dtype() == DType::boolean ? mask : one(call, "Greater", {mask, call.scalar(mask->dtype(), 0)});
  return hiding(unsqueezed(call, keeps, mask->rank() == 2 ? Ints{1, 2} : Ints{1}));
}

// Row s sees keys up to s, behind those of the cache.
Value* Heads::causal_addend() const {
  Value* rows = one(call, "Add", {counted(call, extent(call, q, 2)), extent(call, past_k, 2)});
  Value* keys = counted(call, extent(call, k, 2));
  return hiding(one(call, "LessOrEqual", {unsqueezed(call, keys, {0}), unsqueezed(call, rows, {1})}));
}

Value* Heads::attend() {
  if (past_k) k = one(call, "Concat", {past_k, k}, {{"axis", 2}});
  if (past_v) v = one(call, "Concat", {past_v, v}, {{"axis", 2}});
  supported(q->dims()[3].is_constant(), "the size of heads is not known");
  const bool causal = call.attributes.integer("unidirectional", 0) != 0;
  Value* bias = mask ? mask_addend() : nullptr;
  for (Value* more : {score_bias, causal && past_k ? causal_addend() : nullptr})
    if (more) bias = bias ? one(call, "Add", {bias, more}) : more;
  const float given = call.attributes.number("scale", 0.0f);
  const float scale = given != 0 ? given : static_cast<float>(1 / std::sqrt(static_cast<double>(q->dims()[3].constant())));
  std::vector<Value*> operands{q, k, v};
  if (bias) operands.push_back(bias);
  Value* y = one(call, "FusedAttention", operands, {{"scale", scale}, {"causal", std::int64_t{causal && !past_k}}});
  return reshaped(call, transposed(call, y, {0, 2, 1, 3}), {0, 0, -1});
}

namespace {

// [2, batch, heads, rows, size], half i.
Value* half(OnnxImport& call, Value* both, std::int64_t i) {
  return one(call, "Gather", {both, call.scalar(DType::i64, static_cast<double>(i))}, {{"axis", 0}});
}

}  // namespace

std::vector<Value*> attend_packed(OnnxImport& call, Value* packed, Value* mask, Value* past, Value* score_bias, int own) {
  Heads heads(call);
  heads.expect_own_cache(own);
  supported(packed->type.ranked && packed->rank() == 3 && packed->dims()[2].is_constant(),
            "inputs of another rank than 3, or weights of unknown size");
  const std::int64_t all = packed->dims()[2].constant();
  const Ints sizes = call.attributes.ints("qkv_hidden_sizes", {all / 3, all / 3, all / 3});
  validate(sizes.size() == 3, "qkv_hidden_sizes has ", sizes.size(), " values, 3 expected");
  std::int64_t rest = all;   // a sum could overflow
  for (std::int64_t size : sizes) {
    check_shape(size > 0 && size <= rest, "qkv_hidden_sizes ", ir::text(Attribute(sizes)), " do not divide ", all, " columns");
    rest -= size;
  }
  check_shape(rest == 0, "qkv_hidden_sizes ", ir::text(Attribute(sizes)), " leave ", rest, " of ", all, " columns");
  const std::vector<Value*> parts = call.add("Split", {packed, call.ints(sizes)}, {{"axis", -1}}, 3);
  heads.q = heads.apart(parts[0]), heads.k = heads.apart(parts[1]), heads.v = heads.apart(parts[2]);
  heads.mask = mask, heads.score_bias = score_bias;
  if (past) heads.past_k = half(call, past, 0), heads.past_v = half(call, past, 1);
  Value* y = heads.attend();
  if (call.outputs() < 2) return {y};
  return {y, one(call, "Concat", {unsqueezed(call, heads.k, {0}), unsqueezed(call, heads.v, {0})}, {{"axis", 0}})};
}

}  // namespace tenfold::onnx_ops
