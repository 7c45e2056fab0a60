// What the kernel of slice.cu is given; strides and extents of x, extents of y, which is dense. Axes and steps may be left out.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

constexpr int kMaxSliceDims = 8;
struct SliceArguments {
  const void *x, *starts, *axes, *steps;
  void* y;
  i64 count, elements, x_dims[kMaxSliceDims], x_strides[kMaxSliceDims], y_dims[kMaxSliceDims];
};
static_assert(sizeof(SliceArguments) == 248 && TENFOLD_OFFSET(SliceArguments, count) == 40 &&
              TENFOLD_OFFSET(SliceArguments, y_dims) == 184);

}  // namespace tenfold::backends::cuda
