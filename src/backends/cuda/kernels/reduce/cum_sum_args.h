// What the kernels of cum_sum_lines.cu are given: the line of place i begins at i / inner * extent * inner + i % inner.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// Typed for the kernel: from casts of void* NVRTC makes other code. The tactic has it of void.
template <class Element> struct CumSumArgumentsOf {
  const Element* x;
  Element* y;
  i64 lines, extent, inner;
};
using CumSumArguments = CumSumArgumentsOf<void>;
static_assert(sizeof(CumSumArguments) == 40 && TENFOLD_OFFSET(CumSumArguments, lines) == 16);

}  // namespace tenfold::backends::cuda
