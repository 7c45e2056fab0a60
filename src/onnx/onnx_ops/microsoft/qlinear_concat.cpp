// QLinearConcat: Concat of floats between DequantizeLinear and QuantizeLinear.
#include "onnx_ops/microsoft/qlinear_common.h"

namespace tenfold::onnx_ops {
namespace {

// The result's scale and zero point come first.
std::vector<Value*> from_1(OnnxImport& call) {
  std::vector<Value*> parts;
  for (int i = 2; i < static_cast<int>(call.inputs.size()); i += 3) parts.push_back(real(call, i));
  return rounded(call, one(call, "Concat", parts, {{"axis", call.attributes.integer("axis")}}), 0);
}

}  // namespace

OnnxOp onnx_microsoft_qlinear_concat() { return {.name = "QLinearConcat", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
