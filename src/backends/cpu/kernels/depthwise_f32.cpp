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

// The same for one vector of channels and windows that overlap: each position is read once and used by up to three of them.
template <int kRows, bool kWhole>
TENFOLD_INLINE void slide_vector(vf (&sum)[kRows][1], const GemmF32Tile& t, const float* weights, std::int64_t channel) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) sum[r][0] = zero();
  const float* const* line = t.rows;
  const std::int64_t at = t.offset + channel, left = t.cols - channel;
  for (std::int64_t tap = 0; tap < t.taps; tap += 3, line += 3 * kMaxRows, weights += 3 * kPanel) {
    const vf w0 = load(weights), w1 = load(weights + kPanel), w2 = load(weights + 2 * kPanel);
#pragma GCC unroll 16
    for (int i = 0; i < kRows + 2; ++i) {
      const float* position = i < kRows ? line[i] : line[(i - kRows + 1) * kMaxRows + kRows - 1];
      const vf x = load_part(position + at, 0, left, kWhole);
      if (i < kRows) sum[i][0] = fma(w0, x, sum[i][0]);
      if (i > 0 && i <= kRows) sum[i - 1][0] = fma(w1, x, sum[i - 1][0]);
      if (i > 1) sum[i - 2][0] = fma(w2, x, sum[i - 2][0]);
    }
  }
}

// Walks over the channels in steps of `kStep`; sum_some(tile of all, weights, channel, whole) sums one step.
template <int kRows, int kWidth, class Sum>
TENFOLD_INLINE void each_step(const GemmF32Tile& all, Sum&& sum_some) {
  constexpr int kStep = kWidth * kLanes;
  GemmF32Tile t = all;  // of one step
  GemmF32Finish f;
  if (all.finish) f = *all.finish, t.finish = &f;
  vf sum[kRows][kWidth];
  for (std::int64_t channel = 0; channel < all.cols; channel += kStep, t.c += kStep) {
    const bool whole = channel + kStep <= all.cols;
    const float* weights = all.panel + channel / kPanel * all.taps * kPanel + channel % kPanel;
    sum_some(sum, weights, channel, whole);
    t.cols = whole ? kStep : all.cols - channel;
    end_tile(sum, t);
    if (f.bias) f.bias += kStep;
    if (f.residual) f.residual += kStep;
  }
}

template <int kRows>
void tile(const GemmF32Tile& all) {
  each_step<kRows, kVectors>(
      all, [&](vf(&sum)[kRows][kVectors], const float* weights, std::int64_t channel, bool whole) __attribute__((always_inline)) {
        if (whole)
          sum_panel<kRows, true>(sum, all, weights, channel);
        else
          sum_panel<kRows, false>(sum, all, weights, channel);
      });
}

template <int kRows>
void slide(const GemmF32Tile& all) {
  each_step<kRows, 1>(
      all, [&](vf(&sum)[kRows][1], const float* weights, std::int64_t channel, bool whole) __attribute__((always_inline)) {
        if (whole)
          slide_vector<kRows, true>(sum, all, weights, channel);
        else
          slide_vector<kRows, false>(sum, all, weights, channel);
      });
}

}  // namespace

#define EACH(function)                                                                                                                 \
  {                                                                                                                                    \
    function(1), function(2), function(3), function(4), function(5), function(6), function(7), function(8), function(9), function(10), \
        function(11), function(12)                                                                                                     \
  }
#define TILE(rows) (rows <= kMaxRows ? tile<(rows <= kMaxRows ? rows : 1)> : nullptr)
#define SLIDE(rows) (rows <= kMaxRows ? slide<(rows <= kMaxRows ? rows : 1)> : nullptr)
extern "C" const DepthwiseF32Kernels TENFOLD_TABLE(depthwise_f32) = {kMaxRows, kPanel, EACH(TILE), EACH(SLIDE)};
#undef EACH
#undef TILE
#undef SLIDE

}  // namespace tenfold::backends::cpu
