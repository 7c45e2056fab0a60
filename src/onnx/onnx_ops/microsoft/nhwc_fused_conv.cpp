// NhwcFusedConv: FusedConv of images whose channels are last, as are the residual's. Weights lie as Conv has them.
#include "onnx_ops/microsoft/channels_last_common.h"
#include "onnx_ops/microsoft/fused_conv_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  Value* residual = call.in(3) ? with_channels_first(call, call.in(3)) : nullptr;
  return {with_channels_last(call, fused_convolution(call, with_channels_first(call, call.given(0)), residual))};
}

}  // namespace

OnnxOp onnx_microsoft_nhwc_fused_conv() { return {.name = "NhwcFusedConv", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
