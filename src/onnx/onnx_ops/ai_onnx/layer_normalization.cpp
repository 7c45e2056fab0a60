// LayerNormalization: parameters may differ along dims in front of `axis`.
#include <algorithm>

#include "onnx_ops/onnx_node.h"
#include "ops/norm/norm_common.h"

namespace tenfold::onnx_ops {
namespace {

// Parameters that differ along dims in front of `axis`, which broadcast to the whole of X: a product and a sum behind the normalization.
std::vector<Value*> from_1(OnnxImport& call) {
  check_attributes(call.graph().registry().get("LayerNormalization"), call.attributes);
  const Value* x = call.given(0);
  const int rank = x->type.ranked ? x->rank() : 0;
  const std::int64_t axis = call.attributes.integer("axis", -1);
  check_shape(rank == 0 || (axis >= -rank && axis < rank), "axis ", axis, " is out of range for ", rank, " dimensions");
  const std::int64_t tail = rank == 0 ? 0 : axis < 0 ? -axis : rank - axis;
  const auto wide = [&](Value* v) {
    if (!v || !v->type.ranked) return false;
    for (int d = 0; d < v->rank() - tail; ++d)
      if (v->dims()[static_cast<std::size_t>(d)] != Dim(1)) return true;
    return false;
  };
  if (rank == 0 || (!wide(call.given(1)) && !wide(call.in(2))))
    return call.add("LayerNormalization", call.inputs, call.attributes, std::max(call.outputs(), 1));
  for (int i = 1; i < 3; ++i)
    if (call.in(i)) ops::expect_broadcast(call.in(i)->dims(), x->dims());
  std::vector<Value*> results =
      call.add("LayerNormalization", {call.given(0), call.scalar(x->dtype(), 1)}, call.attributes, std::max(call.outputs(), 1));
  results[0] = call.add("Mul", {results[0], call.given(1)}, {})[0];
  if (call.in(2)) results[0] = call.add("Add", {results[0], call.in(2)}, {})[0];
  return results;
}

}  // namespace

OnnxOp onnx_ai_onnx_layer_normalization() { return {.name = "LayerNormalization", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
