// Embeddings as Gather, their sum and its normalization.
#include "onnx_ops/microsoft/embed_common.h"

namespace tenfold::onnx_ops {
namespace {

Value* positions(OnnxImport& call, Value* ids) {
  if (ids) return one(call, "Gather", {call.given(3), ids}, {{"axis", 0}});
  return one(call, "Slice", {call.given(3), call.ints({0}), extent(call, call.given(0), 1), call.ints({0})});
}

Value* kept_tokens(OnnxImport& call) {
  if (call.in(7)) return one(call, "ReduceSum", {call.in(7), call.ints({1})}, {{"keepdims", 0}});
  return one(call, "ReduceSum", {one(call, "Mul", {call.given(0), call.scalar(call.in(0)->dtype(), 0)}), call.ints({1})},
             {{"keepdims", 0}});
}

}  // namespace

std::vector<Value*> embedded(OnnxImport& call, Value* position_ids, const std::function<Value*(Value* value, int i)>& real) {
  Value* sum = one(call, "Add",
                   {real(one(call, "Gather", {call.given(2), call.given(0)}, {{"axis", 0}}), 2), real(positions(call, position_ids), 3)});
  if (call.in(1) && call.in(4)) sum = one(call, "Add", {sum, real(one(call, "Gather", {call.in(4), call.in(1)}, {{"axis", 0}}), 4)});
  const float epsilon = call.attributes.number("epsilon", 1e-12f);
  Value* beta = call.in(6) ? real(call.in(6), 6) : nullptr;
  Value* normal = one(call, "LayerNormalization", {sum, real(call.given(5), 5), beta}, {{"epsilon", epsilon}});
  return {normal, call.outputs() > 1 && !call.output_names[1].empty() ? kept_tokens(call) : nullptr, sum};
}

}  // namespace tenfold::onnx_ops
