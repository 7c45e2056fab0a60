// Products of few rows with weights of 16-bit fixed point: they are bound by reading the weights, of which this reads half.
#include "backends/cpu/kernels/gemm/gemv_s16.h"

#include "backends/cpu/kernels/gemm/fixed_row.h"
#include "backends/cpu/kernels/gemm/tile_f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

constexpr int kPartBits = 10;         // 2^9 * (2^15 - 1) * 128 is less than 2^31
constexpr int kLargest = 524000;      // the high part of more would pass 2^9

bool split(const float* row, const float* balance, std::int64_t k, std::int32_t* parts, float* scale) {
  const FixedRow fixed(row, balance, k, kLargest);
  *scale = fixed.unit();
  const std::int64_t pairs = (k + 31) / 32 * 16;
  const __m512 times = _mm512_set1_ps(fixed.scale()), half = _mm512_set1_ps(1 << (kPartBits - 1));
  const auto pair = [](__m512i first, __m512i second) { return _mm512_mask_blend_epi16(0xaaaaaaaa, first, _mm512_slli_epi32(second, 16)); };
  fixed.for_each_two([&](std::int64_t i, __m512 first, __m512 second) {
    const __m512i a = _mm512_cvtps_epi32(fma(first, times, half)), b = _mm512_cvtps_epi32(fma(second, times, half));
    const __m512i low = _mm512_and_si512(pair(a, b), _mm512_set1_epi16((1 << kPartBits) - 1));
    _mm512_storeu_si512(parts + i / 2, pair(_mm512_srai_epi32(a, kPartBits), _mm512_srai_epi32(b, kPartBits)));
    _mm512_storeu_si512(parts + pairs + i / 2, _mm512_sub_epi16(low, _mm512_set1_epi16(1 << (kPartBits - 1))));
  });
  return fixed.ordinary();
}

TENFOLD_INLINE __m512i loaded(const std::int16_t* from) {
  __m512i value;
  asm volatile("vmovdqu64 %1, %0" : "=v"(value) : "m"(*reinterpret_cast<const __m512i_u*>(from)));
  return value;
}
TENFOLD_INLINE __m512i loaded(const std::int8_t* from) {
  return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
TENFOLD_INLINE const std::int16_t* weights_of(const GemvS16Tile& g, std::int16_t) { return g.weights; }
TENFOLD_INLINE const std::int8_t* weights_of(const GemvS16Tile& g, std::int8_t) { return g.bytes; }
// The instructions themselves, on sums that begin in registers of their own: GCC 12 copies those of the intrinsic before and after it.
TENFOLD_INLINE __m512i no_sum() {
  __m512i sum;
  asm volatile("vpxord %0, %0, %0" : "=v"(sum));
  return sum;
}
TENFOLD_INLINE void add_pairs(__m512i& high, __m512i& low, __m512i upper, __m512i lower, __m512i weights) {
  asm("vpdpwssd %4, %2, %0\n\tvpdpwssd %4, %3, %1" : "+v"(high), "+v"(low) : "v"(upper), "v"(lower), "v"(weights));
}

// Where panels are few, pairs of k take turns with several sums, so that there are enough of them in flight.
template <class Weight, int kRows, int kPanels>
void product(const GemvS16Tile& g, const GemmF32Tile& t) {
  constexpr int kTurns = kRows * kPanels < 4 ? 2 : 1, kAhead = 1024;
  constexpr std::int64_t kChunk = GemvS16Kernels::kChunk / 2;
  vf sum[kRows][kPanels];
#pragma GCC unroll 16
  for (int i = 0; i < kRows * kPanels; ++i) sum[i / kPanels][i % kPanels] = zero();
  const Weight* weights = weights_of(g, Weight{});
  for (std::int64_t first = 0; first < g.used; first += kChunk) {
    __m512i high[kTurns][kRows][kPanels], low[kTurns][kRows][kPanels];
#pragma GCC unroll 16
    for (int i = 0; i < kTurns * kRows * kPanels; ++i) (&high[0][0][0])[i] = no_sum(), (&low[0][0][0])[i] = no_sum();
    const std::int64_t last = first + kChunk < g.used ? first + kChunk : g.used;
    for (std::int64_t pair = first; pair < last; pair += kTurns) {
#pragma GCC unroll 2
      for (int turn = 0; turn < kTurns; ++turn, weights += g.pair_step) {
        __m512i upper[kRows], lower[kRows];
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
          const auto* const parts = reinterpret_cast<const float*>(g.rows) + r * 2 * g.pairs + pair + turn;
          upper[r] = as_int(held(set1(parts[0]))), lower[r] = as_int(held(set1(parts[g.pairs])));
        }
#pragma GCC unroll 8
        for (int p = 0; p < kPanels; ++p) {
          const __m512i w = loaded(weights + p * 32);
          _mm_prefetch(reinterpret_cast<const char*>(weights + p * 32 + kAhead), _MM_HINT_T0);
#pragma GCC unroll 4
          for (int r = 0; r < kRows; ++r) add_pairs(high[turn][r][p], low[turn][r][p], upper[r], lower[r], w);
        }
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < kTurns * kRows * kPanels; ++i) {
      vf& to = sum[i / kPanels % kRows][i % kPanels];
      to = add(to, fma(to_float((&high[0][0][0])[i]), set1(1 << kPartBits), to_float((&low[0][0][0])[i])));
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int p = 0; p < kPanels; ++p) sum[r][p] = mul(mul(sum[r][p], load(g.step + p * kLanes)), set1(g.row_scale[r]));
  }
  store_sums(sum, t);
}

}  // namespace

#define FEW(weight, rows) product<weight, rows, 1>, product<weight, rows, 2>, product<weight, rows, 3>, product<weight, rows, 4>
#define ALL(weight)                                                                                                                    \
  {                                                                                                                                    \
    {FEW(weight, 1), product<weight, 1, 5>, product<weight, 1, 6>, product<weight, 1, 7>, product<weight, 1, 8>}, {FEW(weight, 2)},    \
        {FEW(weight, 3)}                                                                                                               \
  }
extern "C" const GemvS16Kernels TENFOLD_TABLE(gemv_s16) = {{8, 4, 4}, split, ALL(std::int16_t), ALL(std::int8_t)};
#undef ALL
#undef FEW

}  // namespace tenfold::backends::cpu
