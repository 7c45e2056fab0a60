// Reductions over some axes. Where the reduced elements lie side by side: a warp for each result, or a block for many short rows that lie
// one behind the other. Elsewhere a block for 32 results, or for some vectors of them.
#pragma once

#include <string>

#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

enum class ReduceKind { sum, mean, max, min, absolutes, squares, norm };
inline constexpr int kReduceAxes = 8;
// What the kernels are given: axes outermost first, at the ends of the arrays.
struct ReduceArguments {
  const void* x;
  void* y;
  std::int64_t results, length;  // products of the extents, below 2^31
  std::int64_t kept_axes, reduced_axes;
  std::int64_t kept[kReduceAxes], x_kept[kReduceAxes], y_kept[kReduceAxes];  // extents, strides
  std::int64_t reduced[kReduceAxes], x_reduced[kReduceAxes];
  std::int64_t wide;     // `rows`: each result's elements lie together, in pieces of 16 bytes at multiples of 16
  std::int64_t across;   // `packed_rows`: rows of a block; `column_vectors`: vectors of a block, a power of two up to 32
};
inline constexpr int kReduceRowsPerBlock = 4, kReduceLanes = 16;  // warps of `rows`; rows of threads of `columns`
inline constexpr int kReduceThreads = 256;      // of `packed_rows` and `column_vectors`
inline constexpr int kReduceRoom = 16 << 10;    // bytes that the rows of `packed_rows` take

std::string generate_reduce(ReduceKind kind, DType in, DType out);

}  // namespace tenfold::backends::cuda
