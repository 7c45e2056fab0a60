// What the kernels of gemm_moments.cu are given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

struct MomentsArguments {
  const void* from;        // `finish`: WgmmaArguments::parts; `plain`: the rows themselves
  void *inverse, *offset;  // floats, one for each row
  i64 m;
};
static_assert(sizeof(MomentsArguments) == 32 && TENFOLD_OFFSET(MomentsArguments, m) == 24);

}  // namespace tenfold::backends::cuda
