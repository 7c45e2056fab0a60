// What the kernels of gemm.cu and gemv.cu, and of conv/conv_depthwise.cu, are given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

struct GemmArguments {
  const void *a, *b;
  void* y;
  const void* epilogue[8];   // the epilogue's operands
  i64 m;
};
static_assert(sizeof(GemmArguments) == 96 && TENFOLD_OFFSET(GemmArguments, epilogue) == 24 && TENFOLD_OFFSET(GemmArguments, m) == 88);

}  // namespace tenfold::backends::cuda
