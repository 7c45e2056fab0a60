// What the kernels of reduce.cu are given: axes outermost first, at the ends of the arrays.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

constexpr int kReduceAxes = 8;
struct ReduceArguments {
  const void* x;
  void* y;
  i64 results, length;  // products of the extents, below 2^31
  i64 kept_axes, reduced_axes;
  i64 kept[kReduceAxes], x_kept[kReduceAxes], y_kept[kReduceAxes];  // extents, strides
  i64 reduced[kReduceAxes], x_reduced[kReduceAxes];
  i64 wide;     // `rows`: each result's elements lie together, in pieces of 16 bytes at multiples of 16
  i64 across;   // `packed_rows`: rows of a block; `column_vectors`: vectors of a block, a power of two up to 32
};
static_assert(sizeof(ReduceArguments) == 384 && TENFOLD_OFFSET(ReduceArguments, kept) == 48 &&
              TENFOLD_OFFSET(ReduceArguments, wide) == 368);

}  // namespace tenfold::backends::cuda
