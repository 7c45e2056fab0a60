// Weights of 1x1 convolutions of f32 as kernels/conv/point_split.h takes them, in three terms of bf16.
#pragma once

#include "backends/cpu/kernels/conv/point_split.h"

namespace tenfold::backends::cpu {

// Weights [filter][channel]; they come back bit for bit, but for the kind of a NaN.
struct PointWeights {
  std::int64_t channels, filters;
  std::int64_t bytes() const;
  void pack(const float* from, void* packed) const;
  void unpack(const void* packed, float* to) const;
};

// Of the heights of tiles for this many rows the one that adds the fewest.
int point_tile_height(std::int64_t rows);

}  // namespace tenfold::backends::cpu
