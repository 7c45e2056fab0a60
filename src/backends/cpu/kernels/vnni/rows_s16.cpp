// Products of some rows with weights of 16-bit fixed point: they are bound by reading the weights, of which this reads half. It needs no
// more than AVX-512, and stands here beside the form for fewer rows, which reads the same integers.
#include "backends/cpu/kernels/product/rows_s16.h"

#include "backends/cpu/kernels/product/tile_f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

// Exponents of a row's largest value beside which products with weights of 31 bits neither overflow nor vanish.
constexpr int kLeastExponent = 60, kMostExponent = 210;

bool balance(const float* row, const float* balance, std::int64_t k, int rows, float* to) {
  __m512i largest = _mm512_setzero_si512();
  for (std::int64_t i = 0; i < (k + 31) / 32 * 32; i += 16) {
    const std::int64_t left = k - i;
    const __mmask16 lanes = left >= 16 ? 0xffff : left > 0 ? static_cast<__mmask16>((1 << left) - 1) : 0;
    const __m512 value = _mm512_mul_ps(_mm512_maskz_loadu_ps(lanes, row + i), _mm512_maskz_loadu_ps(lanes, balance + i));
    largest = _mm512_max_epi32(largest, _mm512_and_si512(_mm512_castps_si512(value), _mm512_set1_epi32(0x7fffffff)));
    _mm512_storeu_ps(to + i * rows, value);
  }
  const int bits = _mm512_reduce_max_epi32(largest), exponent = bits >> 23;
  return bits == 0 || (exponent >= kLeastExponent && exponent <= kMostExponent);
}

template <int kRows, int kPanels>
void product(const RowsS16Tile& g, const GemmF32Tile& t) {
  constexpr int kAhead = 768;   // integers: some lines of what comes next
  vf sum[kRows][kPanels];
#pragma GCC unroll 32
  for (int i = 0; i < kRows * kPanels; ++i) sum[i / kPanels][i % kPanels] = zero();
  const float* a = g.rows;
  const std::int16_t* weights = g.weights;
  for (std::int64_t first = 0; first < g.depth; first += 32, a += 32 * kRows - 16) {
    for (int j = 0; j < 16; ++j, ++a, weights += g.pair_step) {
      vf low[kPanels], high[kPanels];
#pragma GCC unroll 2
      for (int p = 0; p < kPanels; ++p) {
        const __m512i w = _mm512_loadu_si512(weights + p * 32);
        _mm_prefetch(reinterpret_cast<const char*>(weights + p * 32 + kAhead), _MM_HINT_T0);
        low[p] = _mm512_cvtepi32_ps(_mm512_slli_epi32(w, 16));
        high[p] = _mm512_cvtepi32_ps(_mm512_and_si512(w, _mm512_set1_epi32(static_cast<int>(0xffff0000u))));
      }
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const vf one = set1(a[r * 16]), other = set1(a[(kRows + r) * 16]);
#pragma GCC unroll 2
        for (int p = 0; p < kPanels; ++p) sum[r][p] = fma(other, high[p], fma(one, low[p], sum[r][p]));
      }
    }
  }
#pragma GCC unroll 2
  for (int p = 0; p < kPanels; ++p) {
    const vf step = mul(load(g.step + p * kLanes), set1(0x1p-16f));
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) sum[r][p] = mul(sum[r][p], step);
  }
  store_sums(sum, t);
}

}  // namespace

#define ROWS(rows) {product<rows, 1>, product<rows, (rows <= 12 ? 2 : 1)>}
extern "C" const RowsS16Kernels TENFOLD_TABLE(rows_s16) = {
    {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1},
    balance,
    {ROWS(1), ROWS(2), ROWS(3), ROWS(4), ROWS(5), ROWS(6), ROWS(7), ROWS(8), ROWS(9), ROWS(10), ROWS(11), ROWS(12), ROWS(13), ROWS(14),
     ROWS(15), ROWS(16)}};
#undef ROWS

}  // namespace tenfold::backends::cpu
