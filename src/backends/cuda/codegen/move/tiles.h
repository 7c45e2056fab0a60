// Copies between tensors whose innermost dims differ, by way of square tiles in shared memory: both sides in whole lines.
#pragma once

#include <cstdint>
#include <string>

#include "backends/cuda/kernels/move/tiles_args.h"

namespace tenfold::backends::cuda {

inline constexpr int kTileThreads = 256;

// Elements that a thread moves at once (`wide`), which then need a common alignment; tiles have 32 times as many on a side, or, if they are
// large, 64 times.
constexpr int tile_vector(int element_bytes) { return element_bytes < 4 ? 4 / element_bytes : 1; }

constexpr int tile_side(int element_bytes, bool large) { return 32 * tile_vector(element_bytes) * (large ? 2 : 1); }

std::string generate_tiles(int element_bytes, bool large);

}  // namespace tenfold::backends::cuda
