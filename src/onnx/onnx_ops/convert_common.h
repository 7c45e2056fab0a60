// What conversions to several nodes share.
#pragma once

#include "base/types/element.h"
#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

// One node with one result.
Value* one(OnnxImport& call, std::string_view op, std::vector<Value*> operands, Attributes attributes = {});
// What made the value is to have all bits of its type (ir::Numerics::exact). Returns the value.
Value* exact(Value* value);
// A constant of floats of this type: fill(first) writes them. Those of 16 bits come from f32 by a Cast, which is folded later: import has
// to be quick where matrices have millions of elements.
template <class Fill>
Value* filled(OnnxImport& call, DType dtype, Shape shape, Fill&& fill) {
  Tensor tensor(dtype == DType::f64 ? dtype : DType::f32, std::move(shape));
  if (dtype == DType::f64) fill(tensor.mutable_data<double>());
  else fill(tensor.mutable_data<float>());
  Value* constant = call.graph().add_constant(std::move(tensor));
  return constant->dtype() == dtype ? constant : one(call, "Cast", {constant}, {{"to", std::string(name(dtype))}});
}
// `value` plus operand i, if that is there.
Value* plus_optional(OnnxImport& call, Value* value, int i);
// The extent of dim d at the run, as i64[1].
Value* extent(OnnxImport& call, Value* value, std::int64_t d);
Value* reshaped(OnnxImport& call, Value* value, const std::vector<std::int64_t>& shape);
Value* transposed(OnnxImport& call, Value* value, std::vector<std::int64_t> perm);
Value* unsqueezed(OnnxImport& call, Value* value, const std::vector<std::int64_t>& axes);
// 0, 1, ... up to `end` (i64[1]), as i64.
Value* counted(OnnxImport& call, Value* end);
// Numbers behind integers, and back; operand `zero` may be left out.
Value* dequantized(OnnxImport& call, Value* value, Value* scale, Value* zero);
// Integers with their scale and zero point, which may be left out.
struct Quantized {
  Value *values, *scale, *zero;
};
// A times B in integers, as floats, plus operand `bias` if that is there.
Value* integer_product(OnnxImport& call, const Quantized& a, const Quantized& b, int bias);
// The rank of operand i, which import has to know to write what computes it.
int known_rank(OnnxImport& call, int i);
// Refuses operand i unless it holds floats of 16 bits or more: constants made for it would be rounded to its type.
void expect_float(OnnxImport& call, int i);

}  // namespace tenfold::onnx_ops
