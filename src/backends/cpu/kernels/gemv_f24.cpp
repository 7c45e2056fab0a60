// Products of few rows with weights of 24 bits: they are bound by reading the weights, of which this reads a quarter less.
#include "backends/cpu/kernels/gemv_f24.h"

#include "backends/cpu/kernels/tile_f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

// Four vectors of weights out of the three that hold them.
template <bool kMasked>
TENFOLD_INLINE void unpack(const float* from, vf (&w)[4]) {
  vf stored[3];
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) stored[i] = held(load(from + i * kLanes));  // held: as memory operands they would be read twice
  const vi first = shift_left<8>(as_int(stored[0])), second = shift_left<16>(as_int(stored[1])), third = shift_left<24>(as_int(stored[2]));
  w[3] = bits_or(bits_or(as_float(third), bits_and(as_float(second), as_float(set1i(0x00ff0000)))),
                 bits_and(as_float(first), as_float(set1i(0x0000ff00))));
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) w[i] = kMasked ? bits_and(stored[i], as_float(set1i(static_cast<std::int32_t>(0xffffff00u)))) : stored[i];
}

// Where registers last: compilers prefer to read it again for each panel, which takes the loads that the weights need.
TENFOLD_INLINE vf broadcast(float x) { return kLanes == 16 ? held(set1(x)) : set1(x); }

template <int kRows, int kPanels, bool kMasked>
TENFOLD_INLINE void step(vf (&sum)[kRows][kPanels][4], const float* const (&a)[kRows], const float* panel, std::int64_t panel_step) {
  vf left[kRows][4];
#pragma GCC unroll 8
  for (int i = 0; i < 4 * kRows; ++i) left[i / 4][i % 4] = broadcast(a[i / 4][i % 4]);
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) {
    vf w[4];
    unpack<kMasked>(panel + p * panel_step, w);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) sum[r][p][i] = fma(left[r][i], w[i], sum[r][p][i]);
    }
  }
}

template <int kRows, int kPanels, bool kMasked>
void product(const GemmF32Tile& t) {
  vf sum[kRows][kPanels][4];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int i = 0; i < 4 * kPanels; ++i) sum[r][i / 4][i % 4] = zero();
  }
  const float* a[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) a[r] = t.rows[r];
  const float* panel = t.panel;
  std::int64_t k = 0;
  for (; k + 4 <= t.k; k += 4, panel += 3 * kLanes) {
    step<kRows, kPanels, kMasked>(sum, a, panel, t.panel_step);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) a[r] += 4;
  }
  if (k < t.k) {  // the weights are padded, the activations are not
    float last[kRows][4] = {};
    for (int r = 0; r < kRows; ++r) {
      for (std::int64_t i = 0; i < t.k - k; ++i) last[r][i] = a[r][i];
      a[r] = last[r];
    }
    step<kRows, kPanels, kMasked>(sum, a, panel, t.panel_step);
  }
  vf result[kRows][kPanels];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) result[r][p] = add(add(sum[r][p][0], sum[r][p][1]), add(sum[r][p][2], sum[r][p][3]));
  }
  end_tile(result, t);
}

constexpr int kWide = kLanes == 16 ? 4 : 2;  // panels at once, as registers allow

}  // namespace

#define ROWS(rows, panels) {{product<rows, 1, false>, product<rows, panels, false>}, {product<rows, 1, true>, product<rows, panels, true>}}
extern "C" const GemvF24Kernels TENFOLD_TABLE(gemv_f24) = {kLanes, {kWide, kWide / 2}, {ROWS(1, kWide), ROWS(2, kWide / 2)}};
#undef ROWS

}  // namespace tenfold::backends::cpu
