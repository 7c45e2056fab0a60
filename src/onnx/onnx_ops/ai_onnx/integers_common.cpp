// Axes of reductions and of running sums as attributes.
#include "onnx_ops/ai_onnx/integers_common.h"

namespace tenfold::onnx_ops {

std::vector<Value*> from_axes_input(OnnxImport& node) {
  Attributes attributes = node.attributes;
  std::vector<Value*> operands{node.given(0)};
  if (Value* axes = node.in(1)) {
    if (auto known = known_integers(*axes)) attributes.set("axes", std::move(*known));
    else operands.push_back(axes);
  }
  return node.add(node.op(), std::move(operands), std::move(attributes));
}

std::vector<Value*> from_axis_input(OnnxImport& node) {
  Attributes attributes = node.attributes;
  const auto axis = known_integers(*node.given(1));
  if (!axis) return node.add(node.op(), {node.given(0), node.given(1)}, std::move(attributes));
  check_shape(axis->size() == 1, node.op(), " runs along one axis, ", axis->size(), " given");
  attributes.set("axis", axis->front());
  return node.add(node.op(), {node.given(0)}, std::move(attributes));
}

}  // namespace tenfold::onnx_ops
