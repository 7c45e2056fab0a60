// DynamicQuantizeMatMul, MatMulIntegerToFloat: products of integers as floats, as ONNX Runtime fuses what its quantiser writes.
#include "ops/composed/composed_common.h"

namespace tenfold::ir {
namespace {

// A, B, scale and zero point of B, bias.
std::vector<Value*> dynamic(OnnxImport& call) {
  const std::vector<Value*> a = call.add("DynamicQuantizeLinear", {call.need(0)}, {}, 3);
  return {ops::integer_product(call, {a[0], a[1], a[2]}, {call.need(1), call.need(2), call.in(3)}, 4)};
}

// A, B, both scales, both zero points, bias.
std::vector<Value*> to_float(OnnxImport& call) {
  return {ops::integer_product(call, {call.need(0), call.need(2), call.in(4)}, {call.need(1), call.need(3), call.in(5)}, 6)};
}

}  // namespace

OpDef op_dynamic_quantize_matmul() {
  return ops::composed({{"DynamicQuantizeMatMul", 1, dynamic, ops::kMicrosoft}, {"MatMulIntegerToFloat", 1, to_float, ops::kMicrosoft}});
}

}  // namespace tenfold::ir
