// CumSum: the axis is an attribute wherever it is known when building.
#include "onnx_ops/ai_onnx/integers_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_11(OnnxImport& node) {
  Attributes attributes = node.attributes;
  const auto axis = known_integers(*node.given(1));
  if (!axis) return node.add("CumSum", {node.given(0), node.given(1)}, std::move(attributes));
  check_shape(axis->size() == 1, "CumSum runs along one axis, ", axis->size(), " given");
  attributes.set("axis", axis->front());
  return node.add("CumSum", {node.given(0)}, std::move(attributes));
}

}  // namespace

OnnxOp onnx_ai_onnx_cum_sum() { return {.name = "CumSum", .forms = {{11, from_11}}}; }

}  // namespace tenfold::onnx_ops
