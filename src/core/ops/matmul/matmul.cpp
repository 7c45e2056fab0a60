// MatMul: numpy's matrix product, batch dims broadcast.
#include "ir/fault.h"
#include "ops/matmul/matmul_common.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.out(0, call.dtype(0), ops::matmul_dims(call, call.dims(0), call.dims(1)));
}

template <class Acc, class T>
void multiply_all(const ops::MatMulShape& shape, const T* a, const T* b, T* y) {
  for (std::size_t i = 0; i < shape.a_matrix.size(); ++i) {
    T* result = y + static_cast<std::int64_t>(i) * shape.m * shape.n;
    ops::multiply<Acc>(a + shape.a_matrix[i] * shape.m * shape.k, shape.k, 1, b + shape.b_matrix[i] * shape.k * shape.n, shape.n, 1,
                       shape.m, shape.n, shape.k,
                       [&](std::int64_t row, std::int64_t column, Acc sum) { result[row * shape.n + column] = static_cast<T>(sum); });
  }
}

void reference(Call& call) {
  const ops::MatMulShape shape(call.in[0].shape, call.in[1].shape);
  if (is_float(call.in[0].dtype)) {
    ops::with_real(call.in[0].dtype, [&]<class T>(T) {
      const ops::RealIn<T> a(call.in[0]), b(call.in[1]);
      const ops::RealOut<T> y(call.out[0]);
      multiply_all<double>(shape, a.data(), b.data(), y.data());
    });
    return;
  }
  with_native_type(call.in[0].dtype, [&]<class T>(T) {  // unsigned sums, for wrapping is what integers do
    multiply_all<std::uint64_t>(shape, call.in[0].as<T>(), call.in[1].as<T>(), call.out[0].as<T>());
  });
}

}  // namespace

OpDef op_matmul() {
  return {.name = "MatMul",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "T, T -> T; T: float|int",
          .infer = infer,
          .reference = reference,
          .traits = {.gemm_kind = GemmKind::matrix, .permission = {.rounding = true, .strassen = true}, .anchor = true, .narrows = true},
          .onnx_since = 1,
          .cases = {"f32[5,7] f32[7,3]", "f32[2,3,4,5] f32[3,5,6]", "f32[64,96] f32[96,80]!", "f32[65,128] f32[128,137]!", "f32[7] f32[7]",
                    "f32[4,5] f32[5]", "f32[5] f32[2,5,3]", "f16[3,17] f16[17,33]", "i32[2,3] i32[3,4]", "f32[3,0] f32[0,2]",
                    "f32[3,0] f32[0,70]!", "bf16[2,40,0] bf16[2,0,70]", "f32[9,2] f32[2,5]!"}};
}

}  // namespace tenfold::ir
