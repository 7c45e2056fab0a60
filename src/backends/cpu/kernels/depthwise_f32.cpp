// The f32 depthwise convolution: a few positions times one panel or vector of channels at a time, the sums kept in registers.
#include "backends/cpu/kernels/depthwise_f32.h"

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

// One vector of channels of neighbouring windows in a line: each position is read once and used by all windows it lies in.
template <int kRows, int kTaps, int kStride, bool kWhole>
TENFOLD_INLINE void sum_line(vf (&sum)[kRows][1], const GemmF32Tile& t, const DepthwiseF32Lines& lines, const float* weights,
                             std::int64_t channel) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) sum[r][0] = zero();
  const std::int64_t at = t.offset + channel, left = t.cols - channel;
  const float* const zeros = lines.zeros + at;
  for (std::int64_t line = 0; line * kTaps < t.taps; ++line, weights += kTaps * kPanel) {
    vf w[kTaps];
#pragma GCC unroll 8
    for (int tap = 0; tap < kTaps; ++tap) w[tap] = held(load(weights + tap * kPanel));
    const float* position = t.rows[line] + at;
    const std::int64_t step = lines.steps[line];
#pragma GCC unroll 32
    for (int i = 0; i < (kRows - 1) * kStride + kTaps; ++i, position += step) {
      const bool outside = (i < kTaps - 1 && i < lines.first) || (i > (kRows - 1) * kStride && i >= lines.last);
      const vf x = held(load_part(outside ? zeros : position, 0, left, kWhole));
#pragma GCC unroll 8
      for (int tap = 0; tap < kTaps; ++tap)
        if (i >= tap && (i - tap) % kStride == 0 && (i - tap) / kStride < kRows)
          sum[(i - tap) / kStride][0] = fma(w[tap], x, sum[(i - tap) / kStride][0]);
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

template <int kRows, int kTaps, int kStride>
void line(const GemmF32Tile& all, const DepthwiseF32Lines& lines) {
  each_step<kRows, 1>(
      all, [&](vf(&sum)[kRows][1], const float* weights, std::int64_t channel, bool whole) __attribute__((always_inline)) {
        if (whole)
          sum_line<kRows, kTaps, kStride, true>(sum, all, lines, weights, channel);
        else
          sum_line<kRows, kTaps, kStride, false>(sum, all, lines, weights, channel);
      });
}

}  // namespace

#define TILE(rows) (rows <= kMaxRows ? tile<(rows <= kMaxRows ? rows : 1)> : nullptr)
#define LINES(taps, stride)                                                                                                         \
  {                                                                                                                                 \
    line<1, taps, stride>, line<2, taps, stride>, line<3, taps, stride>, line<4, taps, stride>, line<5, taps, stride>,              \
        line<6, taps, stride>, line<7, taps, stride>, line<8, taps, stride>                                                         \
  }
extern "C" const DepthwiseF32Kernels TENFOLD_TABLE(depthwise_f32) = {
    kMaxRows,
    kPanel,
    {TILE(1), TILE(2), TILE(3), TILE(4), TILE(5), TILE(6), TILE(7), TILE(8), TILE(9), TILE(10), TILE(11), TILE(12)},
    {{LINES(3, 1), LINES(3, 2)}, {LINES(5, 1), LINES(5, 2)}}};
#undef TILE
#undef LINES

}  // namespace tenfold::backends::cpu
