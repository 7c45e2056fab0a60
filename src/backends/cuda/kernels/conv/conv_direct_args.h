// What the kernel of conv_direct.cu is given. Images are channels-last, weights [tap, depth, filter].
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// Typed for the kernel: from casts of void* NVRTC makes other code. The tactic has it of void.
template <class Element> struct DirectConvArgumentsOf {
  const Element *x, *w, *bias;
  Element* y;
  i64 batch, in[3], out[3];
};
using DirectConvArguments = DirectConvArgumentsOf<void>;
static_assert(sizeof(DirectConvArguments) == 88 && TENFOLD_OFFSET(DirectConvArguments, batch) == 32);

}  // namespace tenfold::backends::cuda
