// What the kernel of conv_points.cu is given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

struct PointsArguments {
  const void *x, *w;
  void* y;
  const void* epilogue[8];   // the epilogue's operands
  i64 rows, spatial;   // positions, of all images and of one
};
static_assert(sizeof(PointsArguments) == 104 && TENFOLD_OFFSET(PointsArguments, rows) == 88);

}  // namespace tenfold::backends::cuda
