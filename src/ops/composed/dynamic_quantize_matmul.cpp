// DynamicQuantizeMatMul, MatMulIntegerToFloat: products of integers as floats, as ONNX Runtime fuses what its quantiser writes.
#include "ops/composed/composed_common.h"

namespace tenfold::ir {
namespace {

using ops::one;

Value* product(OnnxImport& call, Value* a, Value* a_zero, Value* b, Value* b_zero, Value* a_scale, Value* b_scale, int bias) {
  Value* sums = one(call, "Cast", {one(call, "MatMulInteger", {a, b, a_zero, b_zero})}, {{"to", std::string(name(b_scale->dtype()))}});
  return ops::plus_optional(call, one(call, "Mul", {sums, one(call, "Mul", {a_scale, b_scale})}), bias);
}

// A, B, scale and zero point of B, bias.
std::vector<Value*> dynamic(OnnxImport& call) {
  const std::vector<Value*> a = call.add("DynamicQuantizeLinear", {call.need(0)}, {}, 3);
  return {product(call, a[0], a[2], call.need(1), call.in(3), a[1], call.need(2), 4)};
}

// A, B, both scales, both zero points, bias.
std::vector<Value*> to_float(OnnxImport& call) {
  return {product(call, call.need(0), call.in(4), call.need(1), call.in(5), call.need(2), call.need(3), 6)};
}

}  // namespace

OpDef op_dynamic_quantize_matmul() {
  return ops::composed({{"DynamicQuantizeMatMul", 1, dynamic, ops::kMicrosoft}, {"MatMulIntegerToFloat", 1, to_float, ops::kMicrosoft}});
}

}  // namespace tenfold::ir
