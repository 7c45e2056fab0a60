// Nodes that many conversions add, and checks of their operands.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {

Value* one(OnnxImport& call, std::string_view op, std::vector<Value*> operands, Attributes attributes) {
  return call.add(op, std::move(operands), std::move(attributes))[0];
}

Value* exact(Value* value) {
  value->producer->numerics.exact = true;
  return value;
}

Value* plus_optional(OnnxImport& call, Value* value, int i) {
  return call.in(i) ? one(call, "Add", {value, call.in(i)}) : value;
}

Value* extent(OnnxImport& call, Value* value, std::int64_t d) {
  return one(call, "Shape", {value}, {{"start", d}, {"end", d + 1}});
}

Value* reshaped(OnnxImport& call, Value* value, const std::vector<std::int64_t>& shape) {
  return one(call, "Reshape", {value, call.ints(shape)});
}

Value* transposed(OnnxImport& call, Value* value, std::vector<std::int64_t> perm) {
  return one(call, "Transpose", {value}, {{"perm", std::move(perm)}});
}

Value* unsqueezed(OnnxImport& call, Value* value, const std::vector<std::int64_t>& axes) {
  return one(call, "Unsqueeze", {value, call.ints(axes)});
}

Value* counted(OnnxImport& call, Value* end) {
  return one(call, "Range", {call.scalar(DType::i64, 0), one(call, "Squeeze", {end}), call.scalar(DType::i64, 1)});
}

Value* dequantized(OnnxImport& call, Value* value, Value* scale, Value* zero) {
  return one(call, "DequantizeLinear", {value, scale, zero});
}

Value* integer_product(OnnxImport& call, const Quantized& a, const Quantized& b, int bias) {
  Value* sums = one(call, "MatMulInteger", {a.values, b.values, a.zero, b.zero});
  sums = one(call, "Cast", {sums}, {{"to", std::string(name(b.scale->dtype()))}});
  return plus_optional(call, one(call, "Mul", {sums, one(call, "Mul", {a.scale, b.scale})}), bias);
}

int known_rank(OnnxImport& call, int i) {
  supported(call.given(i)->type.ranked, "the rank of operand ", i, " is not known");
  return call.in(i)->rank();
}

void expect_float(OnnxImport& call, int i) {
  const DType type = call.given(i)->dtype();
  validate(type == DType::f32 || type == DType::f64 || type == DType::f16 || type == DType::bf16, "operand ", i, " holds ", name(type),
        ", floats of 16 bits or more expected");
}

}  // namespace tenfold::onnx_ops
