// QLinearSoftmax: Softmax of floats between DequantizeLinear and QuantizeLinear.
#include "onnx_ops/microsoft/qlinear_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  supported(call.attributes.integer("opset", 13) >= 13, "QLinearSoftmax by the rules before opset 13 is not supported");
  return rounded(call, one(call, "Softmax", {real(call, 0)}, {{"axis", call.attributes.integer("axis", -1)}}), 3);
}

}  // namespace

OnnxOp onnx_microsoft_qlinear_softmax() { return {.name = "QLinearSoftmax", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
