// What the kernel of gather.cu is given; sizes in units of the copied piece.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

struct GatherArguments {
  const void *table, *index;
  void* y;
  i64 outer, extent, count, row;
  unsigned* bad_index;
};
static_assert(sizeof(GatherArguments) == 64 && TENFOLD_OFFSET(GatherArguments, outer) == 24);

}  // namespace tenfold::backends::cuda
