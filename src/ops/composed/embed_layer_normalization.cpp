// EmbedLayerNormalization: the sum of word, position and segment embeddings, normalised. Results: that, the number of tokens of each
// sentence that the mask keeps, the sum.
//
// Operands: ids, segment ids, tables of words, positions and segments, gamma, beta, mask, position ids. QEmbedLayerNormalization has the
// tables, gamma and beta in 8 bits, and their scales and zero points behind the mask.
#include "ops/composed/composed_common.h"

namespace tenfold::ir {
namespace {

using ops::one;

Value* positions(OnnxImport& call, Value* ids) {
  if (ids) return one(call, "Gather", {call.need(3), ids}, {{"axis", 0}});
  return one(call, "Slice", {call.need(3), call.ints({0}), ops::extent(call, call.need(0), 1), call.ints({0})});
}

Value* kept_tokens(OnnxImport& call) {
  if (call.in(7)) return one(call, "ReduceSum", {call.in(7), call.ints({1})}, {{"keepdims", 0}});
  return one(call, "ReduceSum", {one(call, "Mul", {call.need(0), call.scalar(call.in(0)->dtype(), 0)}), call.ints({1})}, {{"keepdims", 0}});
}

// `real` makes floats of what operand i holds; only what is read of the tables goes through it.
template <class F>
std::vector<Value*> embedded(OnnxImport& call, Value* position_ids, F&& real) {
  Value* sum = one(call, "Add", {real(one(call, "Gather", {call.need(2), call.need(0)}, {{"axis", 0}}), 2),
                                 real(positions(call, position_ids), 3)});
  if (call.in(1) && call.in(4)) sum = one(call, "Add", {sum, real(one(call, "Gather", {call.in(4), call.in(1)}, {{"axis", 0}}), 4)});
  const float epsilon = call.attributes.number("epsilon", 1e-12f);
  Value* beta = call.in(6) ? real(call.in(6), 6) : nullptr;
  Value* normal = one(call, "LayerNormalization", {sum, real(call.need(5), 5), beta}, {{"epsilon", epsilon}});
  return {normal, call.outputs() > 1 && !call.output_names[1].empty() ? kept_tokens(call) : nullptr, sum};
}

std::vector<Value*> from_onnx(OnnxImport& call) {
  return embedded(call, call.in(8), [](Value* value, int) { return value; });
}

// Scales of operands 2 to 6 are operands 8 to 12, zero points 13 to 17; there are no position ids.
std::vector<Value*> quantized(OnnxImport& call) {
  return embedded(call, nullptr, [&](Value* value, int i) { return ops::dequantized(call, value, call.need(i + 6), call.in(i + 11)); });
}

}  // namespace

OpDef op_embed_layer_normalization() {
  return ops::composed(
      {{"EmbedLayerNormalization", 1, from_onnx, ops::kMicrosoft}, {"QEmbedLayerNormalization", 1, quantized, ops::kMicrosoft}});
}

}  // namespace tenfold::ir
