// Slices whose bounds the device reads.
#pragma once

#include <string>

#include "backends/cuda/kernels/move/slice_args.h"
#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

inline constexpr int kSliceThreads = 256;
std::string generate_slice(DType index, int element_bytes, int rank);

}  // namespace tenfold::backends::cuda
