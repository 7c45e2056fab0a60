// Products of few rows with a constant matrix, with any epilogue: a warp for each column, which reads its weights before the kernel
// ahead has ended.
#pragma once

#include "backends/cuda/codegen/gemm/gemm.h"
#include "backends/cuda/kernels/gemm/gemv_args.h"

namespace tenfold::backends::cuda {

inline constexpr std::int64_t kMaxGemvRows = 8;
// Warps of a block. Each block reads the rows again: where they lie in the host's memory, 64 blocks took 3 us longer for them than 16,
// and those 0.4 us longer than 8, whose threads have registers for one row.
inline int gemv_warps(const GemmProblem& p, int rows) {
  constexpr std::int64_t kSmall = 1 << 17;   // a matrix that few multiprocessors read as quickly
  return p.n * p.k > kSmall ? 4 : rows == 1 ? 32 : 16;
}

// What becomes of rows on their way, and of the products with two matrices.
struct GemvExtras {
  bool norm = false;                    // rows are divided by their root mean square, and multiplied by a scale of this type
  double epsilon = 0;
  DType scale = DType::f16;
  const ir::Body* combine = nullptr;    // makes the epilogue's value of the products with both matrices; null: there is one
};

// Takes GemvArguments. Exports `vectors`, for rows of both operands at multiples of 16 bytes, and `singles`;
// grid: columns / warps, rows / `rows`.
std::string generate_gemv(const GemmProblem& p, int rows, const GemvExtras& extras = {});

}  // namespace tenfold::backends::cuda
