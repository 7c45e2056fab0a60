// The f32 depthwise convolution: a few positions times one panel of channels at a time, the sums kept in registers.
#include "backends/cpu/kernels/tile_f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

// The sums of the channels from `channel` on. A last panel that is not whole reads its part of every position only.
template <int kRows, bool kWhole>
TENFOLD_INLINE void sum_panel(vf (&sum)[kRows][kVectors], const GemmF32Tile& t, const float* weights, std::int64_t channel) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) sum[r][0] = sum[r][1] = zero();
  const float* const* rows = t.rows;
  const std::int64_t at = t.offset + channel, left = t.cols - channel;
  for (std::int64_t tap = 0; tap < t.taps; ++tap, rows += kMaxRows, weights += kPanel) {
    const vf w0 = load(weights), w1 = load(weights + kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const float* x = rows[r] + at;
      sum[r][0] = fma(w0, load_part(x, 0, left, kWhole), sum[r][0]);
      sum[r][1] = fma(w1, load_part(x, kLanes, left, kWhole), sum[r][1]);
    }
  }
}

template <int kRows>
void tile(const GemmF32Tile& all) {
  GemmF32Tile t = all;                 // of one panel
  GemmF32Finish f;
  if (all.finish) f = *all.finish, t.finish = &f;
  vf sum[kRows][kVectors];
  std::int64_t channel = 0;
  for (; channel < all.cols; channel += kPanel, t.panel += all.taps * kPanel, t.c += kPanel) {
    const bool whole = channel + kPanel <= all.cols;
    if (whole) sum_panel<kRows, true>(sum, all, t.panel, channel);
    else sum_panel<kRows, false>(sum, all, t.panel, channel);
    t.cols = whole ? kPanel : all.cols - channel;
    end_tile(sum, t);
    if (f.bias) f.bias += kPanel;
    if (f.residual) f.residual += kPanel;
  }
}

}  // namespace

#define TILE(rows) (rows <= kMaxRows ? tile<(rows <= kMaxRows ? rows : 1)> : nullptr)
extern "C" const DepthwiseF32Kernels TENFOLD_TABLE(depthwise_f32) = {
    kMaxRows, kPanel, {TILE(1), TILE(2), TILE(3), TILE(4), TILE(5), TILE(6), TILE(7), TILE(8), TILE(9), TILE(10), TILE(11), TILE(12)}};
#undef TILE

}  // namespace tenfold::backends::cpu
