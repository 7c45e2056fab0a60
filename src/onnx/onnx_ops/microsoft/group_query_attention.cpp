// GroupQueryAttention: heads that share keys, over a cache whose length each sentence of the batch says for itself.
//
// Operands: Q or packed Q, K, V; K; V; past keys and values [batch, heads, capacity, size]; lengths - 1 by sentence; the longest length;
// cosines and sines; positions; bias of scores; sinks; scales of K and V; weights of norms of Q and K. Results: Y, present keys and values.
#include <cmath>

#include "onnx_ops/microsoft/heads_common.h"

namespace tenfold::onnx_ops {
namespace {

enum Operand : std::uint8_t {
  kQuery, kKey, kValue, kPastKey, kPastValue, kLengths, kLongest, kCosines, kSines, kPositions, kScoreBias, kSink, kKeyScale, kValueScale,
  kQueryNorm, kKeyNorm
};

class GroupQuery {
 public:
  explicit GroupQuery(OnnxImport& call) : call_(call), heads_(count("num_heads")), shared_(count("kv_num_heads")) {
    check_shape(heads_ % shared_ == 0, "num_heads is ", heads_, ", a multiple of kv_num_heads, ", shared_, ", expected");
    for (const char* flag : {"sliding_window_cache", "qk_output"})
      supported(call.attributes.integer(flag, 0) == 0, flag, " is not supported");
    for (const char* type : {"k_quant_type", "v_quant_type"})
      supported(call.attributes.string(type, "NONE") == "NONE", "a quantized cache (", type, ") is not supported");
    supported(!call.in(kKeyScale) && !call.in(kValueScale), "a quantized cache (operands 12 and 13) is not supported");
    validate(bool(call.in(kPastKey)) == bool(call.in(kPastValue)), "a past key needs a past value");
    validate(bool(call.in(kCosines)) == bool(call.in(kSines)), "cosines need sines");
  }

  std::vector<Value*> made() {
    take_apart();
    rows_ = extent(call_, q_, 2);
    lengths_ = one(call_, "Add", {reshaped(call_, in_i64(call_.given(kLengths)), {-1}), call_.ints({1})});
    before_ = one(call_, "Max", {one(call_, "Sub", {lengths_, rows_}), call_.ints({0})});
    places_ = one(call_, "Add", {unsqueezed(call_, before_, {1}), unsqueezed(call_, counted(call_, rows_), {0})});   // [batch, rows]
    q_ = turned(normed(q_, kQueryNorm)), k_ = turned(normed(k_, kKeyNorm));
    k_ = joined(k_, kPastKey), v_ = joined(v_, kPastValue);
    return {attended(), k_, v_};
  }

 private:
  std::int64_t count(const char* attribute) const {
    const std::int64_t heads = call_.attributes.integer(attribute, 0);
    validate(heads > 0 && heads <= 1 << 20, attribute, " is ", heads);
    return heads;
  }
  Value* in_i64(Value* value) { return one(call_, "Cast", {value}, {{"to", "i64"}}); }
  Value* apart(Value* packed, std::int64_t heads) {
    return transposed(call_, reshaped(call_, packed, {0, 0, heads, -1}), {0, 2, 1, 3});
  }
  void take_apart() {
    Value *q = call_.given(kQuery), *k = call_.in(kKey), *v = call_.in(kValue);
    check_shape(known_rank(call_, kQuery) == 3, "queries have rank ", q->rank(), ", 3 expected");
    validate(bool(k) == bool(v), "keys need values");
    if (!k) {
      const Dim all = q->dims()[2];
      supported(all.is_constant(), "the columns of packed queries, keys and values are ", all.text(), ", a constant number is supported");
      const std::int64_t parts = heads_ + 2 * shared_, size = all.constant() / parts;
      check_shape(all.constant() % parts == 0, all.text(), " columns do not divide into ", parts, " heads");
      const std::vector<Value*> split =
          call_.add("Split", {q, call_.ints({heads_ * size, shared_ * size, shared_ * size})}, {{"axis", 2}}, 3);
      q = split[0], k = split[1], v = split[2];
    }
    q_ = apart(q, heads_), k_ = apart(k, shared_), v_ = apart(v, shared_);
    supported(q_->dims()[3].is_constant(), "the size of heads is not known");
  }
  Value* normed(Value* heads, Operand weight) {
    if (!call_.in(weight)) return heads;
    return one(call_, "RMSNormalization", {heads, call_.in(weight)},
               {{"axis", -1}, {"epsilon", call_.attributes.number("qk_norm_epsilon", 1e-6f)}});
  }
  Value* turned(Value* heads) {
    if (call_.attributes.integer("do_rotary", 0) == 0) return heads;
    Value* cosines = call_.given(kCosines);
    check_shape(cosines->type.ranked && cosines->rank() == 2, "cosines of rank 2 expected");
    Attributes attributes{{"interleaved", call_.attributes.integer("rotary_interleaved", 0)}};
    const Dim half = cosines->dims()[1];
    if (half.is_constant() && half * Dim(2) != heads->dims()[3]) attributes.set("rotary_embedding_dim", 2 * half.constant());
    Value* positions = call_.in(kPositions) ? call_.in(kPositions) : places_;
    return one(call_, "RotaryEmbedding", {heads, cosines, call_.given(kSines), positions}, std::move(attributes));
  }
  // The cache with the new rows behind each sentence's own: as long as the past, or as the longest sentence.
  Value* joined(Value* heads, Operand past) {
    if (!call_.in(past)) return heads;
    Value* longest = reshaped(call_, in_i64(call_.given(kLongest)), {1});
    Value* more = one(call_, "Max", {one(call_, "Sub", {longest, extent(call_, call_.in(past), 2)}), call_.ints({0})});
    Value* pads = one(call_, "Concat", {call_.ints({0, 0, 0, 0, 0, 0}), more, call_.ints({0})}, {{"axis", 0}});
    return one(call_, "TensorScatter", {one(call_, "Pad", {call_.in(past), pads}), heads, before_}, {{"axis", 2}});
  }
  // What is added to scores: nothing, or minus infinity where a row does not see a key; [batch, 1, rows, keys].
  Value* hidden() {
    Value* key = unsqueezed(call_, counted(call_, extent(call_, k_, 2)), {0, 1});
    Value* last = unsqueezed(call_, places_, {2});
    if (call_.attributes.integer("causal", 1) == 0)
      last = one(call_, "Sub", {unsqueezed(call_, lengths_, {1, 2}), call_.ints({1})});
    Value* seen = one(call_, "LessOrEqual", {key, last});
    if (const std::int64_t window = call_.attributes.integer("local_window_size", -1); window > 0) {
      Value* first = one(call_, "Sub", {last, call_.ints({window})});
      seen = one(call_, "And", {seen, one(call_, "Greater", {key, first})});
    }
    const DType type = q_->dtype();
    return unsqueezed(call_, one(call_, "Where", {seen, call_.scalar(type, 0), call_.scalar(type, -INFINITY)}), {1});
  }
  // With the model's own, whose columns end with the longest sentence.
  Value* bias() {
    Value* own = call_.in(kScoreBias);
    if (!own) return hidden();
    Value* more = one(call_, "Max", {one(call_, "Sub", {extent(call_, k_, 2), extent(call_, own, 3)}), call_.ints({0})});
    Value* pads = one(call_, "Concat", {call_.ints({0, 0, 0, 0, 0, 0, 0}), more}, {{"axis", 0}});
    return one(call_, "Add", {hidden(), one(call_, "Pad", {own, pads})});
  }
  Value* attended() {
    Attributes attributes;
    const auto size = static_cast<double>(q_->dims()[3].constant());
    const float given = call_.attributes.number("scale", 0.0f);
    attributes.set("scale", given != 0 ? given : static_cast<float>(1 / std::sqrt(size)));
    if (const float cap = call_.attributes.number("softcap", 0.0f); cap > 0) attributes.set("softcap", cap);
    Value *k = k_, *v = v_, *added = bias();
    if (call_.in(kSink) || call_.attributes.integer("smooth_softmax", 0) != 0) {   // one more key of zeros, whose score is the sink
      const Ints one_row{0, 0, 0, 0, 0, 0, 1, 0};
      k = one(call_, "Pad", {k, call_.ints(one_row)}), v = one(call_, "Pad", {v, call_.ints(one_row)});
      Value* sink = call_.in(kSink) ? reshaped(call_, call_.in(kSink), {1, heads_, 1, 1}) : call_.scalar(q_->dtype(), 0);
      Value* shape = one(call_, "Concat", {extent(call_, q_, 0), call_.ints({heads_}), rows_, call_.ints({1})}, {{"axis", 0}});
      Value* all = one(call_, "Concat", {extent(call_, q_, 0), call_.ints({heads_}), rows_, extent(call_, k_, 2)}, {{"axis", 0}});
      added = one(call_, "Concat", {one(call_, "Expand", {added, all}), one(call_, "Expand", {sink, shape})}, {{"axis", 3}});
    }
    Value* y = one(call_, "FusedAttention", {q_, k, v, added}, std::move(attributes));
    return reshaped(call_, transposed(call_, y, {0, 2, 1, 3}), {0, 0, -1});
  }

  OnnxImport& call_;
  const std::int64_t heads_, shared_;
  Value *q_ = nullptr, *k_ = nullptr, *v_ = nullptr;   // [batch, heads, rows, size]
  Value *rows_ = nullptr, *lengths_ = nullptr, *before_ = nullptr, *places_ = nullptr;   // lengths with the new rows, and without
};

std::vector<Value*> from_1(OnnxImport& call) { return GroupQuery(call).made(); }

}  // namespace

OnnxOp onnx_microsoft_group_query_attention() { return {.name = "GroupQueryAttention", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
