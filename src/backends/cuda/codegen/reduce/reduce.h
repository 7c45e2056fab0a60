// Reductions over some axes. Where the reduced elements lie side by side: a warp for each result, or a block for many short rows that lie
// one behind the other. Elsewhere a block for 32 results, or for some vectors of them.
#pragma once

#include <string>

#include "backends/cuda/kernels/reduce/reduce_args.h"
#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

enum class ReduceKind { sum, mean, max, min, absolutes, squares, norm };
inline constexpr int kReduceRowsPerBlock = 4, kReduceLanes = 16;  // warps of `rows`; rows of threads of `columns`
inline constexpr int kReduceThreads = 256;      // of `packed_rows` and `column_vectors`
inline constexpr int kReduceRoom = 16 << 10;    // bytes that the rows of `packed_rows` take

std::string generate_reduce(ReduceKind kind, DType in, DType out);

}  // namespace tenfold::backends::cuda
