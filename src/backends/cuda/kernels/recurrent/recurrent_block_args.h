// What the kernel of recurrent_block.cu is given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// Steps of the input and of the results in elements: by step, direction and sample.
// Typed for the kernel: from casts of void* NVRTC makes other code. The tactic has it of void.
template <class Element> struct RecurrentArgumentsOf {
  const Element *x, *w, *r, *b, *h, *c;
  Element *y, *last_h, *last_c;
  i64 steps, x_step, x_sample, y_step, y_direction, y_sample, state_direction, state_sample;
};
using RecurrentArguments = RecurrentArgumentsOf<void>;
static_assert(sizeof(RecurrentArguments) == 136 && TENFOLD_OFFSET(RecurrentArguments, steps) == 72);

}  // namespace tenfold::backends::cuda
