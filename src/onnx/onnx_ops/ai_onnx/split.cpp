// Split: before opset 18 the number of parts is that of the outputs, before opset 13 their extents are an attribute.
#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_13(OnnxImport& import) {
  return import.add("Split", import.inputs, {{"axis", import.attributes.integer("axis", 0)}}, import.outputs());
}

std::vector<Value*> from_1(OnnxImport& import) {
  std::vector<Value*> operands{import.given(0)};
  if (import.attributes.has("split")) operands.push_back(import.ints(import.attributes.ints("split")));
  return import.add("Split", operands, {{"axis", import.attributes.integer("axis", 0)}}, import.outputs());
}

}  // namespace

OnnxOp onnx_ai_onnx_split() { return {.name = "Split", .forms = {{18}, {13, from_13}, {1, from_1}}}; }

}  // namespace tenfold::onnx_ops
