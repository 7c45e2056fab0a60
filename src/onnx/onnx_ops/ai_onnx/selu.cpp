// Selu: before opset 6 the defaults of alpha and gamma had fewer digits.
#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  return call.add("Selu", {call.given(0)},
                  {{"alpha", call.attributes.number("alpha", 1.6732f)}, {"gamma", call.attributes.number("gamma", 1.0507f)}});
}

}  // namespace

OnnxOp onnx_ai_onnx_selu() { return {.name = "Selu", .forms = {{6}, {1, from_1}}}; }

}  // namespace tenfold::onnx_ops
