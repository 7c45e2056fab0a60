// Operands and results of quantized operators.
#include "onnx_ops/microsoft/qlinear_common.h"

namespace tenfold::onnx_ops {

Value* real(OnnxImport& call, int first) { return dequantized(call, call.given(first), call.given(first + 1), call.in(first + 2)); }

std::vector<Value*> rounded(OnnxImport& call, Value* value, int scale) {
  return {one(call, "QuantizeLinear", {value, call.given(scale), call.in(scale + 1)})};
}

Attributes channels_first(const OnnxImport& call) {
  supported(call.attributes.integer("channels_last", 0) == 0, "channels_last is not supported");
  Attributes attributes = call.attributes;
  attributes.erase("channels_last");
  return attributes;
}

}  // namespace tenfold::onnx_ops
