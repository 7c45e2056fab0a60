// Axes of reductions as an attribute.
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

}  // namespace tenfold::onnx_ops
