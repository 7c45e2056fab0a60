// CausalConvWithState of ONNX Runtime: as ONNX has it from opset 27 on, along one dim.
#include "onnx_ops/ai_onnx/causal_conv_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  for (const auto& [name, usual] : {std::pair("ndim", 1), {"dilation", 1}, {"channels_last", 0}, {"state_window", 0}})
    supported(call.attributes.integer(name, usual) == usual, name, " is ", call.attributes.integer(name, usual), ", ", usual,
              " is supported");
  return causal_conv(call);
}

}  // namespace

OnnxOp onnx_microsoft_causal_conv_with_state() { return {.name = "CausalConvWithState", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
