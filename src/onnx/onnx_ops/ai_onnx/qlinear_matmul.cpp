// QLinearMatMul: a product in floats between DequantizeLinear and QuantizeLinear.
#include "onnx_ops/quantize_common.h"

namespace tenfold::onnx_ops {
namespace {

// Scales may come one per row of A and of the result, and one per column of B.
std::vector<Value*> from_10(OnnxImport& call) {
  const int rank_a = call.given(0)->rank();
  Value* product = call.add("MatMul", {dequantized_along(call, 0, rank_a > 1 ? -2 : -1), dequantized_along(call, 3, -1)}, {})[0];
  return requantized_along(call, product, rank_a > 1 ? -2 : -1);
}

}  // namespace

OnnxOp onnx_ai_onnx_qlinear_matmul() { return {.name = "QLinearMatMul", .forms = {{10, from_10}}}; }

}  // namespace tenfold::onnx_ops
