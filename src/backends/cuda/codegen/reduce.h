// Reductions over some axes: a warp for each result where the reduced elements lie side by side, a block for 32 results elsewhere.
#pragma once

#include <string>

#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

enum class ReduceKind { sum, mean, max, min, absolutes, squares, norm };
inline constexpr int kReduceAxes = 8;
// What the kernels `rows` and `columns` are given: axes outermost first, at the ends of the arrays.
struct ReduceArguments {
  const void* x;
  void* y;
  std::int64_t results, length;  // products of the extents, below 2^31
  std::int64_t kept_axes, reduced_axes;
  std::int64_t kept[kReduceAxes], x_kept[kReduceAxes], y_kept[kReduceAxes];  // extents, strides
  std::int64_t reduced[kReduceAxes], x_reduced[kReduceAxes];
  std::int64_t wide;   // each result's elements lie together, in pieces of 16 bytes at multiples of 16
};
inline constexpr int kReduceRowsPerBlock = 4, kReduceLanes = 16;  // warps of `rows`; rows of threads of `columns`

std::string generate_reduce(ReduceKind kind, DType in, DType out);

}  // namespace tenfold::backends::cuda
