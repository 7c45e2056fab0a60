// DynamicQuantizeLSTM: an LSTM whose weights are integers. They become floats; inputs and states are not rounded as its kernel does.
//
// Operands: X, W and R [directions, inputs, 4 * hidden], bias, lengths, first h, first c, peepholes, then scale and zero point of W and R.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

// One scale for each direction, or for each of its columns.
Value* by_direction(OnnxImport& call, Value* parameter) {
  supported(parameter->type.ranked, "the shape of a scale is not known");
  return unsqueezed(call, parameter, parameter->rank() == 2 ? Ints{1} : Ints{1, 2});
}

Value* weights(OnnxImport& call, int i, int scale) {
  const std::string type(name(call.given(scale)->dtype()));
  Value* value = one(call, "Cast", {call.given(i)}, {{"to", type}});
  if (call.in(scale + 1)) value = one(call, "Sub", {value, by_direction(call, one(call, "Cast", {call.in(scale + 1)}, {{"to", type}}))});
  return transposed(call, one(call, "Mul", {value, by_direction(call, call.given(scale))}), {0, 2, 1});
}

std::vector<Value*> from_1(OnnxImport& call) {
  const std::vector<Value*> operands{call.given(0), weights(call, 1, 8), weights(call, 2, 10), call.in(3),
                                     call.in(4),    call.in(5),          call.in(6),           call.in(7)};
  return call.add("LSTM", operands, call.attributes, std::max(call.outputs(), 1));
}

}  // namespace

OnnxOp onnx_microsoft_dynamic_quantize_lstm() { return {.name = "DynamicQuantizeLSTM", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
