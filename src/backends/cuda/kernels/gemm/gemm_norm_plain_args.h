// What the kernel of gemm_norm_plain.cu is given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

struct PlainNormArguments {
  const void *a, *b, *r;
  void *y, *s;
  const void* epilogue[3];   // scale, bias, row
};
static_assert(sizeof(PlainNormArguments) == 64 && TENFOLD_OFFSET(PlainNormArguments, epilogue) == 40);

}  // namespace tenfold::backends::cuda
