// Micro-kernels of the f32 convolution in groups of few channels: a few positions times one vector of result channels, which holds
// whole groups.
#pragma once

#include "backends/cpu/kernels/gemm/gemm_f32.h"

namespace tenfold::backends::cpu {

// Lane l of step d multiplies channel index[d * lanes + l] of the `inputs` channels that the vector's groups read.
struct GroupedF32Lanes {
  const std::int32_t* index = nullptr;
  std::int64_t inputs = 0;
};
// Of the tile: `k` is the depth of a group, `offset` the first channel read, `panel` [tap][k][lanes], `cols` at most one vector.
using GroupedF32Function = void (*)(const GemmF32Tile&, const GroupedF32Lanes&);

struct GroupedF32Kernels {
  int max_rows = 0, lanes = 0;
  GroupedF32Function tile[kGemmMaxRows] = {};  // [rows - 1]
};
extern "C" const GroupedF32Kernels tenfold_grouped_f32_avx2, tenfold_grouped_f32_avx512;

}  // namespace tenfold::backends::cpu
