// The matrix product that MatMul, Gemm and MatMulInteger share: numpy's shapes and one plain loop.
#pragma once

#include <vector>

#include "ir/op_def.h"

namespace tenfold::ops {

// Result dims of numpy's matmul; one-dimensional operands lose their dim. Throws invalid_model if K disagrees.
ir::Dims matmul_dims(ir::InferCall& call, const ir::Dims& a, const ir::Dims& b);

// The same on concrete shapes: extents of one product, and for each product of the batch which matrices it takes.
struct MatMulShape {
  std::int64_t m = 1, n = 1, k = 1;
  std::vector<std::int64_t> a_matrix, b_matrix;  // index of the matrix in a and b, by index in the result
  MatMulShape(const Shape& a, const Shape& b);
};

// c[m,n] = sum over k of a[m,k] * b[k,n], accumulated in Acc and handed to store(row, column, Acc).
template <class Acc, class T, class Store>
void multiply(const T* a, std::int64_t a_row, std::int64_t a_column, const T* b, std::int64_t b_row, std::int64_t b_column, std::int64_t m,
              std::int64_t n, std::int64_t k, Store&& store) {
  std::vector<Acc> sums(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < m; ++i) {
    std::fill(sums.begin(), sums.end(), Acc{});
    for (std::int64_t p = 0; p < k; ++p) {
      const Acc left = static_cast<Acc>(a[i * a_row + p * a_column]);
      const T* right = b + p * b_row;
      Acc* sum = sums.data();
      for (std::int64_t j = 0; j < n; ++j) sum[j] += left * static_cast<Acc>(right[j * b_column]);
    }
    for (std::int64_t j = 0; j < n; ++j) store(i, j, sums[static_cast<std::size_t>(j)]);
  }
}

}  // namespace tenfold::ops
