// What the kernels of gemv.cu are given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// Typed for the kernel: from casts of void* NVRTC makes other code. The tactic has it of void.
template <class In, class Out> struct GemvArgumentsOf {
  const In *a, *b;   // b is transposed: a column of the product after the other
  Out* y;
  const void* epilogue[8];   // the epilogue's operands
  i64 m;
  const In* second;     // another matrix as b, or nothing
  const void* scale;    // of the norm that rows are given, or nothing
};
using GemvArguments = GemvArgumentsOf<void, void>;
static_assert(sizeof(GemvArguments) == 112 && TENFOLD_OFFSET(GemvArguments, epilogue) == 24 && TENFOLD_OFFSET(GemvArguments, m) == 88);

}  // namespace tenfold::backends::cuda
