// Groups of few channels: each position's channels are spread over the lanes of the results that they belong to.
#include "backends/cpu/kernels/conv/grouped_f32.h"

#include "backends/cpu/kernels/gemm/tile_f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

template <int kRows>
void tile(const GemmF32Tile& t, const GroupedF32Lanes& lanes_of) {
  vf sum[kRows][1];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) sum[r][0] = zero();
  const vmask exist = lanes(lanes_of.inputs);
  const float* w = t.panel;
  const float* const* rows = t.rows;
  for (std::int64_t tap = 0; tap < t.taps; ++tap, rows += kMaxRows) {
    if (rows[0] == nullptr) {
      w += t.k * kLanes;
      continue;
    }
    const std::int32_t* index = lanes_of.index;
    for (std::int64_t d = 0; d < t.k; ++d, w += kLanes, index += kLanes) {
      const vf weight = load(w);
      const vi spread = loadi(index);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) sum[r][0] = fma(permute(load_if(rows[r] + t.offset, exist), spread), weight, sum[r][0]);
    }
  }
  store_sums(sum, t);
}

}  // namespace

#define TILE(rows) (rows <= kMaxRows ? tile<(rows <= kMaxRows ? rows : 1)> : nullptr)
extern "C" const GroupedF32Kernels TENFOLD_TABLE(grouped_f32) = {
    kMaxRows, kLanes, {TILE(1), TILE(2), TILE(3), TILE(4), TILE(5), TILE(6), TILE(7), TILE(8), TILE(9), TILE(10), TILE(11), TILE(12)}};
#undef TILE

}  // namespace tenfold::backends::cpu
