// MatMulFloat8 (internal): the product of matrices of e4m3, added up and given in f32. Made of dequantised operands for GPUs.
#include "ir/fault.h"
#include "ops/matmul/matmul_common.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.out(0, DType::f32, ops::matmul_dims(call, call.dims(0), call.dims(1)));
}

void reference(Call& call) {
  const ops::MatMulShape shape(call.in[0].shape, call.in[1].shape);
  const std::vector<float> a = ops::converted<float>(call.in[0]), b = ops::converted<float>(call.in[1]);
  auto* y = call.out[0].as<float>();
  for (std::size_t i = 0; i < shape.a_matrix.size(); ++i, y += shape.m * shape.n) {
    const float *left = a.data() + shape.a_matrix[i] * shape.m * shape.k, *right = b.data() + shape.b_matrix[i] * shape.k * shape.n;
    ops::multiply<double>(left, shape.k, 1, right, shape.n, 1, shape.m, shape.n, shape.k,
                          [&](std::int64_t row, std::int64_t column, double sum) { y[row * shape.n + column] = static_cast<float>(sum); });
  }
}

}  // namespace

OpDef op_matmul_float8() {
  return {.name = "MatMulFloat8",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "f8e4m3fn, f8e4m3fn -> f32",
          .infer = infer,
          .reference = reference,
          .traits = {.product = Product::matrix, .anchor = true, .accumulates = true},
          .cases = {"f8e4m3fn[5,7] f8e4m3fn[7,3]", "f8e4m3fn[4,33] f8e4m3fn[33,17]!", "f8e4m3fn[2,3,64] f8e4m3fn[64,32]!",
                    "f8e4m3fn[0,4] f8e4m3fn[4,2]!"},
          .tolerance = 5e-3};  // tensor cores add products up with fewer bits than f32 has, Hopper's with 14
}

}  // namespace tenfold::ir
