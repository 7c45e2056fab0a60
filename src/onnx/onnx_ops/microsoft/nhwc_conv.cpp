// NhwcConv: Conv of images whose channels are last. Weights lie as Conv has them.
#include "onnx_ops/microsoft/channels_last_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  std::vector<Value*> operands{with_channels_first(call, call.given(0)), call.given(1)};
  if (call.in(2)) operands.push_back(call.in(2));
  return {with_channels_last(call, one(call, "Conv", operands, call.attributes))};
}

}  // namespace

OnnxOp onnx_microsoft_nhwc_conv() { return {.name = "NhwcConv", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
