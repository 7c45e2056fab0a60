// What the kernel of conv_planes.cu is given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"
#include "backends/cuda/kernels/lib/tensor_map.h"

namespace tenfold::backends::cuda {

// Box of x: a stage's channels of a tile's plane with its margin. Weights: [block of filters][taps of a plane][channels / 8]
// [taps of the walk, last first][filters][8 channels].
struct PlanesArguments {
  TensorMap x;
  const void* w;
  void* y;
  const void* epilogue[8];   // the epilogue's operands
  int images, length;        // length: results along the walk that a block computes before it goes elsewhere
};
static_assert(sizeof(PlanesArguments) == 256 && TENFOLD_OFFSET(PlanesArguments, w) == 128 &&
              TENFOLD_OFFSET(PlanesArguments, images) == 208);

}  // namespace tenfold::backends::cuda
