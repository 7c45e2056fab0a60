// Concat: before opset 4 the axis had a default.
#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  return call.add("Concat", call.inputs, {{"axis", call.attributes.integer("axis", 1)}});
}

}  // namespace

OnnxOp onnx_ai_onnx_concat() { return {.name = "Concat", .forms = {{4}, {1, from_1}}}; }

}  // namespace tenfold::onnx_ops
