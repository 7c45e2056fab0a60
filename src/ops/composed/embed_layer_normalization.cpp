// EmbedLayerNormalization: the sum of word, position and segment embeddings, normalised. Results: that, the number of tokens of each
// sentence that the mask keeps, the sum.
//
// Operands: ids, segment ids, tables of words, positions and segments, gamma, beta, mask, position ids.
#include "ops/composed/composed_common.h"

namespace tenfold::ir {
namespace {

using ops::one;

Value* positions(OnnxImport& call) {
  if (call.in(8)) return one(call, "Gather", {call.need(3), call.in(8)}, {{"axis", 0}});
  return one(call, "Slice", {call.need(3), call.ints({0}), ops::extent(call, call.need(0), 1), call.ints({0})});
}

Value* kept_tokens(OnnxImport& call) {
  if (call.in(7)) return one(call, "ReduceSum", {call.in(7), call.ints({1})}, {{"keepdims", 0}});
  return one(call, "ReduceSum", {one(call, "Mul", {call.need(0), call.scalar(call.in(0)->dtype(), 0)}), call.ints({1})}, {{"keepdims", 0}});
}

std::vector<Value*> from_onnx(OnnxImport& call) {
  Value* sum = one(call, "Add", {one(call, "Gather", {call.need(2), call.need(0)}, {{"axis", 0}}), positions(call)});
  if (call.in(1) && call.in(4)) sum = one(call, "Add", {sum, one(call, "Gather", {call.in(4), call.in(1)}, {{"axis", 0}})});
  const float epsilon = call.attributes.number("epsilon", 1e-12f);
  Value* normal = one(call, "LayerNormalization", {sum, call.need(5), call.in(6)}, {{"epsilon", epsilon}});
  return {normal, call.outputs() > 1 && !call.output_names[1].empty() ? kept_tokens(call) : nullptr, sum};
}

}  // namespace

OpDef op_embed_layer_normalization() { return ops::composed({{"EmbedLayerNormalization", 1, from_onnx, ops::kMicrosoft}}); }

}  // namespace tenfold::ir
