// Rows of a table by index.
#pragma once

#include <string>

#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

// What the kernel `gather` is given; sizes in units of the copied piece.
struct GatherArguments {
  const void *table, *index;
  void* y;
  std::int64_t outer, extent, count, row;
  std::uint32_t* bad_index;
};
inline constexpr int kGatherThreads = 256;
// `piece_bytes`: what a thread copies, 1 to 16. An index outside gives zeros and sets `bad_index`: the device cannot end a run.
std::string generate_gather(DType index, int piece_bytes);

}  // namespace tenfold::backends::cuda
