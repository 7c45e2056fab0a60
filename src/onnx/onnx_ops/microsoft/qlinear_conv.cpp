// QLinearConv of ONNX Runtime: ONNX's, whose channels may be last.
#include "onnx_ops/microsoft/channels_last_common.h"
#include "onnx_ops/quantize_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  const bool last = call.attributes.integer("channels_last", 0) != 0;
  call.attributes.erase("channels_last");
  if (!last) return quantized_convolution(call);
  call.inputs[0] = with_channels_first(call, call.given(0));
  return {with_channels_last(call, quantized_convolution(call)[0])};
}

}  // namespace

OnnxOp onnx_microsoft_qlinear_conv() { return {.name = "QLinearConv", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
