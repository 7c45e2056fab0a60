// Operators of models that have no node of their own: import writes each as nodes of others, which passes and kernels know.
#pragma once

#include "base/element.h"
#include "ops/onnx_node.h"

namespace tenfold::ops {

// The entry of the registry. `name` is its first form's, with the domain.
ir::OpDef composed(std::vector<ir::OnnxForm> forms);

inline constexpr const char* kMicrosoft = "com.microsoft";

// One node with one result.
ir::Value* one(ir::OnnxImport& call, std::string_view op, std::vector<ir::Value*> operands, ir::Attributes attributes = {});
// A constant of floats of this type: fill(first) writes them. Those of 16 bits come from f32 by a Cast, which is folded later: import has
// to be quick where matrices have millions of elements.
template <class Fill>
ir::Value* filled(ir::OnnxImport& call, DType dtype, Shape shape, Fill&& fill) {
  Tensor tensor(dtype == DType::f64 ? dtype : DType::f32, std::move(shape));
  if (dtype == DType::f64) fill(tensor.mutable_data<double>());
  else fill(tensor.mutable_data<float>());
  ir::Value* constant = call.graph().add_constant(std::move(tensor));
  return constant->dtype() == dtype ? constant : one(call, "Cast", {constant}, {{"to", std::string(name(dtype))}});
}
// `value` plus operand i, if that is there.
ir::Value* plus_optional(ir::OnnxImport& call, ir::Value* value, int i);
// The extent of dim d at the run, as i64[1].
ir::Value* extent(ir::OnnxImport& call, ir::Value* value, std::int64_t d);
ir::Value* reshaped(ir::OnnxImport& call, ir::Value* value, const std::vector<std::int64_t>& shape);
ir::Value* transposed(ir::OnnxImport& call, ir::Value* value, std::vector<std::int64_t> perm);
ir::Value* unsqueezed(ir::OnnxImport& call, ir::Value* value, const std::vector<std::int64_t>& axes);
// 0, 1, ... up to `end` (i64[1]), as i64.
ir::Value* counted(ir::OnnxImport& call, ir::Value* end);
// Numbers behind integers, and back; operand `zero` may be left out.
ir::Value* dequantized(ir::OnnxImport& call, ir::Value* value, ir::Value* scale, ir::Value* zero);
// Integers with their scale and zero point, which may be left out.
struct Quantized {
  ir::Value *values, *scale, *zero;
};
// A times B in integers, as floats, plus operand `bias` if that is there.
ir::Value* integer_product(ir::OnnxImport& call, const Quantized& a, const Quantized& b, int bias);
// The rank of operand i, which import has to know to write what computes it.
int known_rank(ir::OnnxImport& call, int i);
// Refuses operand i unless it holds floats of 16 bits or more: constants made for it would be rounded to its type.
void need_float(ir::OnnxImport& call, int i);

}  // namespace tenfold::ops
