// What the kernel of pool.cu is given: extents outermost first, strides in elements in the order batch, channel, three spatial dims.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

struct PoolArguments {
  const void* x;
  void* y;
  i64 batch, channels, in[3], out[3], x_stride[5], y_stride[5];
};
static_assert(sizeof(PoolArguments) == 160 && TENFOLD_OFFSET(PoolArguments, in) == 32 && TENFOLD_OFFSET(PoolArguments, y_stride) == 120);

}  // namespace tenfold::backends::cuda
