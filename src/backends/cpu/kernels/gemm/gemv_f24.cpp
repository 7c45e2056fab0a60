// Products of few rows with weights of 24 bits: they are bound by reading the weights, of which this reads a quarter less.
#include "backends/cpu/kernels/gemm/gemv_f24.h"

#include "backends/cpu/kernels/gemm/tile_f32.h"
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
  store_sums(result, t);
}

// Three rows and more have sums enough in flight without a chain for each of the four, and time to fetch weights that lie in memory.
template <int kRows, int kPanels, bool kMasked>
void rows_product(const GemmF32Tile& t) {
  constexpr std::int64_t kAhead = 24 * 3 * kLanes;
  vf sum[kRows][kPanels];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int p = 0; p < kPanels; ++p) sum[r][p] = zero();
  }
  const float* a[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) a[r] = t.rows[r];
  const auto four = [&](const float* panel, int steps) __attribute__((always_inline)) {
    vf w[kPanels][4];
#pragma GCC unroll 2
    for (int p = 0; p < kPanels; ++p) {
      unpack<kMasked>(panel + p * t.panel_step, w[p]);
#pragma GCC unroll 3
      for (int i = 0; i < 3 * kLanes; i += 16)
        _mm_prefetch(reinterpret_cast<const char*>(panel + p * t.panel_step + kAhead + i), _MM_HINT_T0);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      if (i == steps) break;
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const vf left = set1(a[r][i]);
#pragma GCC unroll 2
        for (int p = 0; p < kPanels; ++p) sum[r][p] = fma(left, w[p][i], sum[r][p]);
      }
    }
  };
  const float* panel = t.panel;
  std::int64_t k = 0;
  for (; k + 4 <= t.k; k += 4, panel += 3 * kLanes) {
    four(panel, 4);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) a[r] += 4;
  }
  if (k < t.k) four(panel, static_cast<int>(t.k - k));
  store_sums(sum, t);
}

constexpr int kWide = kLanes == 16 ? 4 : 2;  // panels at once, as registers allow
constexpr int kMaxGemvRows = kLanes == 16 ? 16 : 8;

}  // namespace

#define FORMS(function, rows, panels)                                                                                    \
  {                                                                                                                      \
    {function<rows, 1, false>, function<rows, panels, false>}, { function<rows, 1, true>, function<rows, panels, true> } \
  }
#define FEW(rows, panels) FORMS(product, rows, panels)
#define MORE(rows) FORMS(rows_product, (rows <= kMaxGemvRows ? rows : 3), (kLanes == 16 && rows < 8 ? 2 : 1))
extern "C" const GemvF24Kernels TENFOLD_TABLE(gemv_f24) = {
    kLanes,
    kMaxGemvRows,
    {kWide, kWide / 2, kWide / 2, kWide / 2, kWide / 2, kWide / 2, kWide / 2, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {FEW(1, kWide), FEW(2, kWide / 2), MORE(3), MORE(4), MORE(5), MORE(6), MORE(7), MORE(8), MORE(9), MORE(10), MORE(11), MORE(12),
     MORE(13), MORE(14), MORE(15), MORE(16)}};
#undef MORE
#undef FEW
#undef FORMS

}  // namespace tenfold::backends::cpu
