// Shapes of the matrix product as numpy defines them.
#include "ops/matmul/matmul_common.h"

#include <algorithm>

namespace tenfold::ops {
namespace {

// The matrices of an operand with batch dims `own`, in the order of the result's batch.
std::vector<std::int64_t> matrix_order(const Shape& own, const Shape& result) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(element_count(result)));
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), index = 0, stride = 1;
    for (std::size_t back = 1; back <= result.size(); ++back) {
      const std::int64_t extent = result[result.size() - back], at = rest % extent;
      rest /= extent;
      if (back > own.size()) continue;
      const std::int64_t own_extent = own[own.size() - back];
      index += (own_extent == 1 ? 0 : at) * stride;
      stride *= own_extent;
    }
    order[i] = index;
  }
  return order;
}

}  // namespace

ir::Dims matmul_dims(ir::InferCall& call, const ir::Dims& a, const ir::Dims& b) {
  call.check_shape(!a.empty() && !b.empty(), "MatMul needs operands of rank 1 or more, found a scalar");
  const ir::Dim k_a = a.back(), k_b = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (k_a.is_constant() && k_b.is_constant() && k_a != k_b)   // no words before they are needed: plans with many products load here
    call.check_shape(false, "cannot multiply [", ir::text(a), "] by [", ir::text(b), "]: ", k_a.text(), " columns meet ", k_b.text(),
                     " rows");
  const ir::Dims batch_a(a.begin(), a.size() < 2 ? a.begin() : a.end() - 2), batch_b(b.begin(), b.size() < 2 ? b.begin() : b.end() - 2);
  ir::Dims dims = ir::broadcast(batch_a, batch_b);
  if (a.size() > 1) dims.push_back(a[a.size() - 2]);
  if (b.size() > 1) dims.push_back(b.back());
  return dims;
}

MatMulShape::MatMulShape(const Shape& a, const Shape& b) {
  k = a.back();
  if (a.size() > 1) m = a[a.size() - 2];
  if (b.size() > 1) n = b.back();
  const std::int64_t rows = b.size() > 1 ? b[b.size() - 2] : b[0];
  ir::check_shape(rows == k, "MatMul has operands of ", k, " columns and ", rows, " rows");
  const Shape batch_a(a.begin(), a.size() < 2 ? a.begin() : a.end() - 2), batch_b(b.begin(), b.size() < 2 ? b.begin() : b.end() - 2);
  const Shape batch = ir::constants(ir::broadcast(ir::to_dims(batch_a), ir::to_dims(batch_b)));
  a_matrix = matrix_order(batch_a, batch);
  b_matrix = matrix_order(batch_b, batch);
}

}  // namespace tenfold::ops
