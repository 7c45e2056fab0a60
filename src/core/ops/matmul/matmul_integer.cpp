// MatMulInteger: the product of 8-bit matrices less their zero points, in 32 bits.
#include "ir/fault.h"
#include "ops/matmul/matmul_common.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.out(0, DType::i32, ops::matmul_dims(call, call.dims(0), call.dims(1)));
}

// Subtracts a zero point that is one value, one per row or column (`axis` from the back), or shaped to broadcast.
std::vector<std::int32_t> centered(const Call& call, const TensorRef& tensor, const TensorRef* zero, std::size_t back) {
  std::vector<std::int32_t> values = ops::converted<std::int32_t>(tensor);
  if (zero == nullptr || zero->data == nullptr) return values;
  const std::vector<std::int32_t> zeros = ops::converted<std::int32_t>(*zero);
  const std::int64_t rank = static_cast<std::int64_t>(tensor.shape.size()), count = static_cast<std::int64_t>(zeros.size());
  if (count == 1) {
    for (std::int32_t& v : values) v -= zeros[0];
    return values;
  }
  const ops::AxisView view(tensor.shape, std::max<std::int64_t>(rank - static_cast<std::int64_t>(back), 0));
  const bool per_matrix = count == view.outer * view.extent;  // [.., M, 1] or [.., 1, N]
  call.check_shape(count == view.extent || per_matrix, "a zero point has ", count, " values for ", view.extent, " lanes");
  for (std::int64_t o = 0; o < view.outer; ++o) {
    for (std::int64_t e = 0; e < view.extent; ++e) {
      const std::int32_t z = zeros[static_cast<std::size_t>(count == view.extent ? e : o * view.extent + e)];
      for (std::int64_t i = 0; i < view.inner; ++i) values[static_cast<std::size_t>((o * view.extent + e) * view.inner + i)] -= z;
    }
  }
  return values;
}

// One zero point per column of each matrix: columns are the innermost axis, so the batch is what lies before the rows.
std::vector<std::int32_t> centered_columns(const Call& call, const TensorRef& tensor, const TensorRef* zero) {
  if (zero == nullptr || zero->data == nullptr || zero->size() <= tensor.shape.back()) return centered(call, tensor, zero, 1);
  std::vector<std::int32_t> values = ops::converted<std::int32_t>(tensor);
  const std::vector<std::int32_t> zeros = ops::converted<std::int32_t>(*zero);
  const std::int64_t n = tensor.shape.back(), k = tensor.shape[tensor.shape.size() - 2];
  call.check_shape(static_cast<std::int64_t>(zeros.size()) * k == tensor.size(), "a zero point has ", zeros.size(), " values, expected 1, ",
                   n, " or one per column of each matrix");
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    values[static_cast<std::size_t>(i)] -= zeros[static_cast<std::size_t>(i / (k * n) * n + i % n)];
  return values;
}

void reference(Call& call) {
  const ops::MatMulShape shape(call.in[0].shape, call.in[1].shape);
  const std::vector<std::int32_t> a = centered(call, call.in[0], call.has(2) ? &call.in[2] : nullptr, 2);
  const std::vector<std::int32_t> b = centered_columns(call, call.in[1], call.has(3) ? &call.in[3] : nullptr);
  auto* y = call.out[0].as<std::int32_t>();
  for (std::size_t i = 0; i < shape.a_matrix.size(); ++i, y += shape.m * shape.n) {
    ops::multiply<std::int64_t>(
        a.data() + shape.a_matrix[i] * shape.m * shape.k, shape.k, 1, b.data() + shape.b_matrix[i] * shape.k * shape.n, shape.n, 1, shape.m,
        shape.n, shape.k,
        [&](std::int64_t row, std::int64_t column, std::int64_t sum) { y[row * shape.n + column] = static_cast<std::int32_t>(sum); });
  }
}

}  // namespace

OpDef op_matmul_integer() {
  return {.name = "MatMulInteger",
          .min_inputs = 2,
          .max_inputs = 4,
          .types = "A, B, A, B -> i32; A: i8|u8; B: i8|u8",
          .infer = infer,
          .reference = reference,
          .traits = {.gemm_kind = GemmKind::matrix, .anchor = true, .accumulates = true},
          .onnx_since = 10,
          .cases = {"u8[5,7] i8[7,3]", "u8[4,33] i8[33,17]! u8[]{7} i8[]{0}", "u8[3,8] u8[8,6] u8[]{3} u8[6]{1,2,3,4,5,6}",
                    "i8[2,3,4] i8[2,4,5] i8[3]{1,-1,2}"},
          .tolerance = 0};
}

}  // namespace tenfold::ir
