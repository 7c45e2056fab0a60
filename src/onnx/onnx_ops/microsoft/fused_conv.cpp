// FusedConv: a convolution, a residual (operand 3) and an activation.
#include "onnx_ops/microsoft/fused_conv_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) { return {fused_convolution(call, call.given(0), call.in(3))}; }

}  // namespace

OnnxOp onnx_microsoft_fused_conv() { return {.name = "FusedConv", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
