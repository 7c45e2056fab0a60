// Broadcasting as it was before opset 7, as a Reshape.
#include "onnx_ops/ai_onnx/axis_broadcast_common.h"

namespace tenfold::onnx_ops {

Value* append_ones(OnnxImport& node, Value* value, int count) {
  if (count == 0) return value;
  std::vector<std::int64_t> shape(value->dims().size(), 0);   // 0 keeps the extent
  shape.insert(shape.end(), static_cast<std::size_t>(count), 1);
  return node.graph().make("Reshape", {value, node.ints(shape)});
}

std::vector<Value*> from_axis_broadcast(OnnxImport& node) {
  Value *a = node.given(0), *b = node.given(1);
  if (node.attributes.integer("broadcast", 0) != 0 && node.attributes.has("axis")) {
    const std::int64_t requested = node.attributes.integer("axis"), axis = requested < 0 ? requested + a->rank() : requested;
    const int room = a->rank() - b->rank();
    check_shape(axis >= 0 && axis <= room, "axis ", requested, " puts an operand of rank ", b->rank(), " outside one of rank ", a->rank());
    b = append_ones(node, b, room - static_cast<int>(axis));
  }
  return node.add(node.op(), {a, b}, {});
}

}  // namespace tenfold::onnx_ops
