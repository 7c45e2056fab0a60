// The f32 depthwise convolution: a few positions times one panel or vector of channels at a time, the sums kept in registers.
#include "backends/cpu/kernels/conv/depthwise_f32.h"

#include "backends/cpu/kernels/gemm/tile_f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

// The sums of the channels from `channel` on. A last panel that is not whole reads its part of every position only.
template <int kRows, int kWidth, bool kWhole>
TENFOLD_INLINE void sum_panel(vf (&sum)[kRows][kWidth], const GemmF32Tile& t, const float* const* rows, const float* weights,
                              std::int64_t channel) {
#pragma GCC unroll 32
  for (int i = 0; i < kRows * kWidth; ++i) sum[i / kWidth][i % kWidth] = zero();
  const std::int64_t at = t.offset + channel;
  const Columns<kWidth, kWhole ? kWidth : kWidth - 1> columns(t.cols - channel);
  for (std::int64_t tap = 0; tap < t.taps; ++tap, rows += kMaxRows, weights += kPanel) {
    if (rows[0] == nullptr) continue;
    const vf w0 = load(weights), w1 = load(weights + (kWidth - 1) * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const float* x = rows[r] + at;
      sum[r][0] = fma(w0, columns.read(x, 0), sum[r][0]);
      if (kWidth > 1) sum[r][kWidth - 1] = fma(w1, columns.read(x, kWidth - 1), sum[r][kWidth - 1]);
    }
  }
}

// The same for windows in a strip. Every third has a pointer of its own: the others are reached from it by address arithmetic.
template <int kRows, int kWidth, bool kWhole>
TENFOLD_INLINE void sum_strip(vf (&sum)[kRows][kWidth], const GemmF32Tile& t, const DepthwiseF32Strip& s, const float* weights,
                              std::int64_t channel) {
#pragma GCC unroll 32
  for (int i = 0; i < kRows * kWidth; ++i) sum[i / kWidth][i % kWidth] = zero();
  const std::int64_t at = t.offset + channel, step = s.step;
  const Columns<kWidth, kWhole ? kWidth : kWidth - 1> columns(t.cols - channel);
  for (std::int64_t line = 0; line < s.count; ++line) {
    const float* w = weights + s.first[line] * kPanel;
    const float* third[(kRows + 2) / 3];
#pragma GCC unroll 8
    for (int i = 0; i < (kRows + 2) / 3; ++i) third[i] = s.lines[line] + at + 3 * i * step;
    for (std::int64_t tap = 0; tap < s.taps; ++tap, w += kPanel) {
      const vf w0 = load(w), w1 = load(w + (kWidth - 1) * kLanes);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const float* x = third[r / 3] + r % 3 * step;
        sum[r][0] = fma(w0, columns.read(x, 0), sum[r][0]);
        if (kWidth > 1) sum[r][kWidth - 1] = fma(w1, columns.read(x, kWidth - 1), sum[r][kWidth - 1]);
      }
#pragma GCC unroll 8
      for (int i = 0; i < (kRows + 2) / 3; ++i) third[i] += s.tap_step;
    }
  }
}

// One vector of channels of neighboring windows in a line: each position is read once and used by all windows it lies in.
template <int kRows, int kTaps, int kStride, bool kWhole>
TENFOLD_INLINE void sum_line(vf (&sum)[kRows][1], const GemmF32Tile& t, const DepthwiseF32Lines& lines, const float* weights,
                             std::int64_t channel) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) sum[r][0] = zero();
  const std::int64_t at = t.offset + channel;
  const Columns<1, kWhole> columns(t.cols - channel);
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
      const vf x = held(columns.read(outside ? zeros : position, 0));
#pragma GCC unroll 8
      for (int tap = 0; tap < kTaps; ++tap)
        if (i >= tap && (i - tap) % kStride == 0 && (i - tap) / kStride < kRows)
          sum[(i - tap) / kStride][0] = fma(w[tap], x, sum[(i - tap) / kStride][0]);
    }
  }
}

// Member by member: as a whole it would be read with wider loads than it was just stored with, and wait for that.
TENFOLD_INLINE void copy_epilogue(GemmF32EpilogueArgs& f, const GemmF32EpilogueArgs& g) {
  f.bias = g.bias, f.residual = g.residual, f.residual_stride = g.residual_stride;
  f.clamp = g.clamp, f.low = g.low, f.high = g.high;
}

// Walks over the channels in steps of one vector; sum_some(tile of all, weights, channel, whole) sums one step.
template <int kRows, class Sum>
TENFOLD_INLINE void each_step(const GemmF32Tile& all, Sum&& sum_some) {
  GemmF32Tile t = all;  // of one step
  GemmF32EpilogueArgs f;
  if (all.epilogue) copy_epilogue(f, *all.epilogue), t.epilogue = &f;
  vf sum[kRows][1];
  for (std::int64_t channel = 0; channel < all.cols; channel += kLanes, t.c += kLanes) {
    const bool whole = channel + kLanes <= all.cols;
    const float* weights = all.panel + channel / kPanel * all.taps * kPanel + channel % kPanel;
    sum_some(sum, weights, channel, whole);
    t.cols = whole ? kLanes : all.cols - channel;
    store_sums(sum, t);
    if (f.bias) f.bias += kLanes;
    if (f.residual) f.residual += kLanes;
  }
}

// Panels, or half panels, of one tile of `all`: t and f are that tile's. sum_some(sums, weights, channel, whole) sums one of them.
template <int kRows, int kWidth, class Sum>
TENFOLD_INLINE void panels(const GemmF32Tile& all, GemmF32Tile& t, GemmF32EpilogueArgs& f, std::int64_t first, std::int64_t last,
                           Sum&& sum_some) {
  constexpr int kStep = kWidth * kLanes;
  vf sum[kRows][kWidth];
  for (std::int64_t channel = first; channel < last; channel += kStep, t.c += kStep) {
    const bool whole = channel + kStep <= all.cols;
    const float* weights = all.panel + channel / kPanel * all.taps * kPanel;
    t.cols = whole ? kStep : all.cols - channel;
    if (whole)
      sum_some(sum, weights, channel, std::true_type{});
    else
      sum_some(sum, weights, channel, std::false_type{});
    store_sums(sum, t);
    if (f.bias) f.bias += kStep;
    if (f.residual) f.residual += kStep;
  }
}

// A last panel of which only half exists takes half the work: the channels before it.
TENFOLD_INLINE std::int64_t whole_panels(const GemmF32Tile& all) {
  const std::int64_t rest = all.cols % kPanel;
  return rest > 0 && rest <= kLanes ? all.cols - rest : all.cols;
}

template <int kRows>
void tile(const GemmF32Tile& all, std::int64_t tiles) {
  const std::int64_t last = whole_panels(all);
  GemmF32Tile t = all;
  GemmF32EpilogueArgs f;
  const auto sum_some = [&](auto& sum, const float* weights, std::int64_t channel, auto whole) __attribute__((always_inline)) {
    constexpr int kWidth = sizeof sum[0] / sizeof sum[0][0];
    sum_panel<kRows, kWidth, whole>(sum, all, t.rows, weights, channel);
  };
  if (all.epilogue) t.epilogue = &f;
  for (std::int64_t i = 0; i < tiles; ++i, t.rows += t.taps * kMaxRows) {
    t.c = all.c + i * kRows * t.c_stride;
    if (all.epilogue) f = *all.epilogue;
    if (f.residual) f.residual += i * kRows * f.residual_stride;
    panels<kRows, kVectors>(all, t, f, 0, last, sum_some);
    if (last < all.cols) panels<kRows, 1>(all, t, f, last, all.cols, sum_some);
  }
}

template <int kRows>
void strip(const GemmF32Tile& all, const DepthwiseF32Strip& windows) {
  const std::int64_t last = whole_panels(all);
  GemmF32Tile t;   // what the epilogue of a tile needs: copied as a whole `all` would be read with wider loads than it was just stored with
  t.c = all.c, t.c_stride = all.c_stride;
  GemmF32EpilogueArgs f;
  if (all.epilogue) copy_epilogue(f, *all.epilogue), t.epilogue = &f;
  const auto sum_some = [&](auto& sum, const float* weights, std::int64_t channel, auto whole) __attribute__((always_inline)) {
    constexpr int kWidth = sizeof sum[0] / sizeof sum[0][0];
    sum_strip<kRows, kWidth, whole>(sum, all, windows, weights, channel);
  };
  panels<kRows, kVectors>(all, t, f, 0, last, sum_some);
  if (last < all.cols) panels<kRows, 1>(all, t, f, last, all.cols, sum_some);
}

template <int kRows, int kTaps, int kStride>
void line(const GemmF32Tile& all, const DepthwiseF32Lines& lines) {
  each_step<kRows>(
      all, [&](vf(&sum)[kRows][1], const float* weights, std::int64_t channel, bool whole) __attribute__((always_inline)) {
        if (whole)
          sum_line<kRows, kTaps, kStride, true>(sum, all, lines, weights, channel);
        else
          sum_line<kRows, kTaps, kStride, false>(sum, all, lines, weights, channel);
      });
}

}  // namespace

#define TILE(rows) (rows <= kMaxRows ? tile<(rows <= kMaxRows ? rows : 1)> : nullptr)
#define STRIP(rows) (rows <= kMaxRows ? strip<(rows <= kMaxRows ? rows : 1)> : nullptr)
#define LINES(taps, stride)                                                                                                         \
  {                                                                                                                                 \
    line<1, taps, stride>, line<2, taps, stride>, line<3, taps, stride>, line<4, taps, stride>, line<5, taps, stride>,              \
        line<6, taps, stride>, line<7, taps, stride>, line<8, taps, stride>                                                         \
  }
extern "C" const DepthwiseF32Kernels TENFOLD_TABLE(depthwise_f32) = {
    kMaxRows,
    kPanel,
    {TILE(1), TILE(2), TILE(3), TILE(4), TILE(5), TILE(6), TILE(7), TILE(8), TILE(9), TILE(10), TILE(11), TILE(12)},
    {STRIP(1), STRIP(2), STRIP(3), STRIP(4), STRIP(5), STRIP(6), STRIP(7), STRIP(8), STRIP(9), STRIP(10), STRIP(11), STRIP(12)},
    {{LINES(3, 1), LINES(3, 2)}, {LINES(5, 1), LINES(5, 2)}}};
#undef TILE
#undef STRIP
#undef LINES

}  // namespace tenfold::backends::cpu
