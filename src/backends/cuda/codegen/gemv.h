// Products of few rows with a constant matrix, with any epilogue: a warp for each column, which reads its weights before the kernel
// ahead has ended.
#pragma once

#include "backends/cuda/codegen/gemm.h"

namespace tenfold::backends::cuda {

inline constexpr std::int64_t kMostGemvRows = 8;
inline constexpr int kGemvWarps = 4;  // of a block

// Takes GemmArguments, the matrix transposed. Exports `vectors`, for rows of both operands at multiples of 16 bytes, and `singles`;
// grid: columns / warps, rows / `rows`.
std::string generate_gemv(const GemmProblem& p, int rows);

}  // namespace tenfold::backends::cuda
