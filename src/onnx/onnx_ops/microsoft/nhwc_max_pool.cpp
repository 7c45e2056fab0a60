// NhwcMaxPool: MaxPool of images whose channels are last.
#include "onnx_ops/microsoft/channels_last_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  return {with_channels_last(call, one(call, "MaxPool", {with_channels_first(call, call.given(0))}, call.attributes))};
}

}  // namespace

OnnxOp onnx_microsoft_nhwc_max_pool() { return {.name = "NhwcMaxPool", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
