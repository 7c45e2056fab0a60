// Slices whose bounds the device reads.
#pragma once

#include <string>

#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

inline constexpr int kMostSliceDims = 8, kSliceThreads = 256;
// What the kernel `slice` is given; strides and extents of x, extents of y, which is dense. Axes and steps may be left out.
struct SliceArguments {
  const void *x, *starts, *axes, *steps;
  void* y;
  std::int64_t count, elements, x_dims[kMostSliceDims], x_strides[kMostSliceDims], y_dims[kMostSliceDims];
};
std::string generate_slice(DType index, int element_bytes, int rank);

}  // namespace tenfold::backends::cuda
