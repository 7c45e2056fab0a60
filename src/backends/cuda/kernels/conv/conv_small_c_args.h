// What the kernel of conv_small_c.cu is given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// Typed for the kernel: from casts of void* NVRTC makes other code. The tactic has it of void.
template <class Image, class Half> struct ConvSmallCArgumentsOf {
  const Image* x;
  const Half* w;   // [block of filters][packed_filters][pitch]
  Half* y;
  const void* epilogue[8];   // the epilogue's operands
  i64 images;
};
using ConvSmallCArguments = ConvSmallCArgumentsOf<void, void>;
static_assert(sizeof(ConvSmallCArguments) == 96 && TENFOLD_OFFSET(ConvSmallCArguments, images) == 88);

}  // namespace tenfold::backends::cuda
