// What the kernels of group_norm_nhwc.cu are given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// Images of `pixels` pixels of channels. `partial` holds, for each image and each of its `splits`, a sum and a sum of squares by channel,
// of what is beyond the image's first pixel. A block of `moments` has `split` pixels, one of `apply` has `part`.
struct GroupNormNhwcArguments {
  const void *x, *scale, *bias;
  void* y;
  float* partial;
  i64 pixels, splits, split, part;
};
static_assert(sizeof(GroupNormNhwcArguments) == 72 && TENFOLD_OFFSET(GroupNormNhwcArguments, pixels) == 40);

}  // namespace tenfold::backends::cuda
