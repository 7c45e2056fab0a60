// What the kernels of masked_mean.cu are given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// Typed for the kernel: from casts of void* NVRTC makes other code. The tactic has it of void.
template <class In, class Mask> struct MaskedMeanArgumentsOf {
  const In* x;
  const Mask* mask;
  float* y;
  i64 tokens;            // of a mean; packed: of all
  const int* offsets;
  unsigned* bad_index;   // becomes 1 if one is less than that before it, or beyond `tokens`
};
using MaskedMeanArguments = MaskedMeanArgumentsOf<void, void>;
static_assert(sizeof(MaskedMeanArguments) == 48 && TENFOLD_OFFSET(MaskedMeanArguments, tokens) == 24);

}  // namespace tenfold::backends::cuda
