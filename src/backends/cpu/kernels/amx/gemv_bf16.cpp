// One row times panels of bf16: pairs of weights are widened to f32 by a shift and a mask. vdpbf16ps, which adds both products, takes as
// long as all four instructions.
#include "backends/cpu/kernels/gemm/gemv_bf16.h"

#include <immintrin.h>

#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

constexpr std::int64_t kPairs = 16, kVector = 32, kAhead = 1024;   // pairs of a step, values of a vector, bytes fetched ahead

// Values in registers, where they last: compilers like to read them again for each use.
inline __attribute__((always_inline)) __m512i held(__m512i v) {
  asm("" : "+v"(v));
  return v;
}

// Even and odd values of the row have sums of their own: chains enough to keep the multipliers busy.
template <int kPanels>
void panels(const GemvBf16& g) {
  constexpr int kVectors = 2 * kPanels;
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000u));
  __m512 even[kVectors], odd[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) even[v] = odd[v] = _mm512_setzero_ps();
  const std::uint16_t* panel = g.panel;
  const float* x = g.x;
  for (std::int64_t step = 0; step < g.steps; ++step, panel += kPairs * kVector) {   // and by as much over the second tile, below
    for (std::int64_t pair = 0; pair < kPairs; ++pair, x += 2, panel += kVector) {
      const __m512 first = _mm512_set1_ps(x[0]), second = _mm512_set1_ps(x[1]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const std::uint16_t* const at = panel + v / 2 * g.panel_step + v % 2 * kPairs * kVector;
        const __m512i w = held(_mm512_loadu_si512(at));
        _mm_prefetch(reinterpret_cast<const char*>(at) + kAhead, _MM_HINT_T0);
        even[v] = _mm512_fmadd_ps(first, _mm512_castsi512_ps(_mm512_slli_epi32(w, 16)), even[v]);
        odd[v] = _mm512_fmadd_ps(second, _mm512_castsi512_ps(_mm512_and_si512(w, upper)), odd[v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) _mm512_storeu_ps(g.sums + v * 16, _mm512_add_ps(even[v], odd[v]));
}

void widen(const char* row, bool wide, std::int64_t count, std::int64_t padded, float* to) {
  for (std::int64_t at = 0; at < padded; at += 16) {
    const std::int64_t left = count - at;
    const auto lanes = static_cast<__mmask16>(left >= 16 ? 0xffff : left > 0 ? (1u << left) - 1 : 0);
    const __m512i narrow = _mm512_cvtepu16_epi32(wide ? __m256i{} : _mm256_maskz_loadu_epi16(lanes, row + at * 2));
    _mm512_storeu_ps(to + at, wide ? _mm512_maskz_loadu_ps(lanes, row + at * 4) : _mm512_castsi512_ps(_mm512_slli_epi32(narrow, 16)));
  }
}

}  // namespace

extern "C" const GemvBf16Kernels TENFOLD_TABLE(gemv_bf16) = {{panels<1>, panels<2>, panels<3>, panels<4>}, widen};

}  // namespace tenfold::backends::cpu
