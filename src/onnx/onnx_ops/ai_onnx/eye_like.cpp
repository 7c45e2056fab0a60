// EyeLike: the type is a number in ONNX.
#include "onnx_ops/onnx_node.h"
#include "ops/onnx_dtype.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_9(OnnxImport& import) {
  Attributes attributes{{"k", import.attributes.integer("k", 0)}};
  if (import.attributes.has("dtype")) attributes.set("dtype", std::string(name(ops::dtype_from_onnx(import.attributes.integer("dtype")))));
  return import.add("EyeLike", {import.given(0)}, std::move(attributes));
}

}  // namespace

OnnxOp onnx_ai_onnx_eye_like() { return {.name = "EyeLike", .forms = {{9, from_9}}}; }

}  // namespace tenfold::onnx_ops
