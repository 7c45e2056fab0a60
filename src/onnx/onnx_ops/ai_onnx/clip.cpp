// Clip: before opset 11 the bounds are attributes.
#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& node) {
  Value* x = node.given(0);
  const auto bound = [&](const char* name) -> Value* {
    return node.attributes.has(name) ? node.scalar(x->dtype(), static_cast<double>(node.attributes.number(name))) : nullptr;
  };
  return node.add("Clip", {x, bound("min"), bound("max")}, {});
}

}  // namespace

OnnxOp onnx_ai_onnx_clip() { return {.name = "Clip", .forms = {{11}, {1, from_1}}}; }

}  // namespace tenfold::onnx_ops
