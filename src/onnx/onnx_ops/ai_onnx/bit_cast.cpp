// BitCast: its type by name.
#include "onnx_ops/onnx_node.h"
#include "ops/onnx_dtype.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_26(OnnxImport& call) {
  validate(call.attributes.has("to"), "attribute 'to' is missing");
  return call.add("BitCast", {call.given(0)}, {{"to", std::string(name(ops::dtype_from_onnx(call.attributes.integer("to"))))}});
}

}  // namespace

OnnxOp onnx_ai_onnx_bit_cast() { return {.name = "BitCast", .forms = {{26, from_26}}}; }

}  // namespace tenfold::onnx_ops
