// Rows of a table by index.
#pragma once

#include <string>

#include "backends/cuda/kernels/index/gather_args.h"
#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

inline constexpr int kGatherThreads = 256;
// `piece_bytes`: what a thread copies, 1 to 16. An index outside gives zeros and sets `bad_index`: the device cannot end a run.
std::string generate_gather(DType index, int piece_bytes);

}  // namespace tenfold::backends::cuda
