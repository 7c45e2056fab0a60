// The graph's two operators of quantization, between which everything else is computed in floats: one path of quantization exists.
#include "onnx_ops/quantize_common.h"

#include "ops/onnx_dtype.h"

namespace tenfold::onnx_ops {
namespace {

void name_output_dtype(Attributes& attributes) {
  const std::int64_t number = attributes.integer("output_dtype", 0);
  attributes.set("output_dtype", number == 0 ? std::string() : std::string(name(ops::dtype_from_onnx(number))));
}

}  // namespace

std::vector<Value*> from_quantize_linear(OnnxImport& call) {
  name_output_dtype(call.attributes);
  call.attributes.erase("precision");  // of the division; ours is always in float
  return call.add("QuantizeLinear", call.inputs, call.attributes);
}

std::vector<Value*> from_dequantize_linear(OnnxImport& call) {
  name_output_dtype(call.attributes);
  return call.add("DequantizeLinear", call.inputs, call.attributes);
}

Value* dequantized_along(OnnxImport& call, int first, std::int64_t axis) {
  return call.add("DequantizeLinear", {call.given(first), call.given(first + 1), call.in(first + 2)}, {{"axis", axis}})[0];
}

std::vector<Value*> requantized_along(OnnxImport& call, Value* value, std::int64_t axis) {
  return call.add("QuantizeLinear", {value, call.given(6), call.in(7)}, {{"axis", axis}});
}

std::vector<Value*> quantized_convolution(OnnxImport& call) {
  std::vector<Value*> operands{dequantized_along(call, 0, 1), dequantized_along(call, 3, 0)};
  if (call.in(8)) {
    Value* scale = call.add("Mul", {call.given(1), call.given(4)}, {})[0];
    operands.push_back(call.add("DequantizeLinear", {call.in(8), scale}, {{"axis", 0}})[0]);
  }
  return requantized_along(call, call.add("Conv", operands, call.attributes)[0], 1);
}

}  // namespace tenfold::onnx_ops
