// Equal: until opset 7 an attribute said where in the first operand the second one lies; from opset 19 on strings are compared, too.
#include "onnx_ops/ai_onnx/axis_broadcast_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_19(OnnxImport& node) {
  const bool strings = node.given(0)->dtype() == DType::string;
  return node.add(strings ? "StringEqual" : "Equal", {node.given(0), node.given(1)}, {});
}

}  // namespace

OnnxOp onnx_ai_onnx_equal() { return {.name = "Equal", .forms = {{19, from_19}, {7}, {1, from_axis_broadcast}}}; }

}  // namespace tenfold::onnx_ops
