// Attention: as FusedAttention where that says it all, else as the graph's Attention.
//
// Operands: Q, K, V, mask, past key, past value, number of keys that are not padding (by batch).
#include <algorithm>
#include <cmath>

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {
namespace {

enum Operand { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kValidKeys };

// Whether plain FusedAttention says it all: no cache, padding, shared keys or wish to see the scores.
bool is_plain(const OnnxImport& call) {
  const Value *q = call.in(kQuery), *k = call.in(kKey), *mask = call.in(kMask);
  if (!q || !k || !call.in(kValue) || !q->type.ranked || !k->type.ranked || k->rank() != q->rank() || call.in(kValue)->rank() != q->rank())
    return false;
  if (call.outputs() > 1 || call.in(kPastKey) || call.in(kValidKeys)) return false;
  const Dim keys = k->rank() == 4 ? k->dims()[2] : k->dims()[1];
  if (mask && (!mask->type.ranked || mask->rank() < 2 || mask->dims().back() != keys)) return false;
  if (mask && mask->dtype() != q->dtype() && mask->dtype() != DType::boolean) return false;
  if (q->rank() == 3) {
    const std::int64_t heads = call.attributes.integer("q_num_heads", 0), shared = call.attributes.integer("kv_num_heads", 0);
    return heads > 0 && shared > 0 && heads % shared == 0;
  }
  if (q->rank() != 4 || !q->dims()[3].is_constant()) return false;
  const Dim heads = q->dims()[1], shared = k->dims()[1];
  return heads == shared ||
         (heads.is_constant() && shared.is_constant() && shared.constant() > 0 && heads.constant() % shared.constant() == 0);
}

// A mask that is added: what it is, or nothing where a boolean one is true and minus infinity where it is not.
Value* addend(OnnxImport& call, Value* mask) {
  if (mask->dtype() != DType::boolean) return mask;
  const DType type = call.in(kQuery)->dtype();
  return call.add("Where", {mask, call.scalar(type, 0), call.scalar(type, -INFINITY)}, {})[0];
}

std::vector<Value*> from_23(OnnxImport& call) {
  if (!is_plain(call)) return call.add("Attention", call.inputs, call.attributes, std::max(call.outputs(), 1));
  const bool packed = call.in(kQuery)->rank() == 3;
  std::vector<Value*> operands;
  for (int i = kQuery; i <= kValue; ++i) {
    Value* value = call.in(i);
    if (packed) {
      value =
          call.add("Reshape", {value, call.ints({0, 0, call.attributes.integer(i == kQuery ? "q_num_heads" : "kv_num_heads"), -1})}, {})[0];
      value = call.add("Transpose", {value}, {{"perm", Ints{0, 2, 1, 3}}})[0];
    }
    operands.push_back(value);
  }
  const Dim size = operands[0]->dims()[3];
  if (!size.is_constant()) return call.add("Attention", call.inputs, call.attributes);
  if (call.in(kMask)) operands.push_back(addend(call, call.in(kMask)));
  const float scale = call.attributes.number("scale", static_cast<float>(1 / std::sqrt(static_cast<double>(size.constant()))));
  ir::Attributes attributes{{"scale", scale}, {"causal", call.attributes.integer("is_causal", 0)}};
  if (const float cap = call.attributes.number("softcap", 0); cap > 0) attributes.set("softcap", cap);
  Value* result = call.add("FusedAttention", operands, attributes)[0];
  if (!packed) return {result};
  result = call.add("Transpose", {result}, {{"perm", Ints{0, 2, 1, 3}}})[0];
  return call.add("Reshape", {result, call.ints({0, 0, -1})}, {});
}

}  // namespace

OnnxOp onnx_ai_onnx_attention() { return {.name = "Attention", .forms = {{23, from_23}}}; }

}  // namespace tenfold::onnx_ops
