// LinearAttention of ONNX Runtime: as ONNX has it from opset 27 on, where it keeps one state.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  Attributes attributes = call.attributes;
  supported(attributes.integer("state_window", 0) == 0, "states of several tokens (state_window) are not supported");
  attributes.erase("state_window");
  return call.add("LinearAttention", call.inputs, attributes, call.outputs());
}

}  // namespace

OnnxOp onnx_microsoft_linear_attention() { return {.name = "LinearAttention", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
