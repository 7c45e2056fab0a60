// What the kernel of conv_direct.cu is given. Images are channels-last, weights [tap, depth, filter].
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

struct DirectConvArguments {
  const void *x, *w, *bias;
  void* y;
  i64 batch, in[3], out[3];
};
static_assert(sizeof(DirectConvArguments) == 88 && TENFOLD_OFFSET(DirectConvArguments, batch) == 32);

}  // namespace tenfold::backends::cuda
