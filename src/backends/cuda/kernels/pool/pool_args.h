// What the kernels of pool.cu and pool_strips.cu are given: extents outermost first, strides in elements in the order batch, channel, three
// spatial dims.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// By element type for pool_strips.cu: from casts of void* NVRTC may make other code.
template <class Element> struct PoolArgumentsOf {
  const Element* x;
  Element* y;
  i64 batch, channels, in[3], out[3], x_stride[5], y_stride[5];
};
using PoolArguments = PoolArgumentsOf<void>;
static_assert(sizeof(PoolArguments) == 160 && TENFOLD_OFFSET(PoolArguments, in) == 32 && TENFOLD_OFFSET(PoolArguments, y_stride) == 120);

}  // namespace tenfold::backends::cuda
