// What the kernel of tiles.cu is given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

constexpr int kTileAxes = 8;   // besides the two of the tile
// Axis a is the innermost of the result, b that of the source; strides in elements.
struct TileArguments {
  const void* from;
  void* to;
  i64 a, b, from_a, from_b, to_a, to_b, tiles_a, tiles_b, axes, wide;
  i64 extent[kTileAxes], from_stride[kTileAxes], to_stride[kTileAxes];
};
static_assert(sizeof(TileArguments) == 288 && TENFOLD_OFFSET(TileArguments, a) == 16 && TENFOLD_OFFSET(TileArguments, extent) == 96);

}  // namespace tenfold::backends::cuda
