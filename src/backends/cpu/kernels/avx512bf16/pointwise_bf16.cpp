// Rounding to bf16 by the CPU's own instruction, and what need not be more precise, in loops of the block executor.
#include <immintrin.h>

#include "backends/cpu/kernels/avx512bf16/gelu.h"
#include "backends/cpu/kernels/region/pointwise.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using std::int64_t;
using std::uint16_t;

inline __mmask16 lanes(int64_t n) { return static_cast<__mmask16>((1u << n) - 1); }
inline __m256i rounded(__m512 v) { return reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(v)); }
inline __m512 widened(__m256i v) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16)); }

struct FromF32 {
  using From = float;
  static __m512 get(const float* p) { return _mm512_loadu_ps(p); }
  static __m512 get(const float* p, __mmask16 m) { return _mm512_maskz_loadu_ps(m, p); }
};
struct FromBf16 {
  using From = uint16_t;
  static __m512 get(const uint16_t* p) { return widened(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
  static __m512 get(const uint16_t* p, __mmask16 m) { return widened(_mm256_maskz_loadu_epi16(m, p)); }
};
struct ToBf16 {
  using To = uint16_t;
  static void put(uint16_t* to, __m512 v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), rounded(v)); }
  static void put(uint16_t* to, __m512 v, __mmask16 m) { _mm256_mask_storeu_epi16(to, m, rounded(v)); }
};
struct RoundToBf16 {
  using To = float;
  static void put(float* to, __m512 v) { _mm512_storeu_ps(to, widened(rounded(v))); }
  static void put(float* to, __m512 v, __mmask16 m) { _mm512_mask_storeu_ps(to, m, widened(rounded(v))); }
};

struct Same {
  static __m512 run(__m512 x) { return x; }
};
struct GeluErf {
  static __m512 run(__m512 x) { return gelu_erf(x); }
};

template <class F, class Load, class Store>
void map(void* out, int64_t out_row, const PointwiseArg* args, unsigned uniform, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    auto* const to = static_cast<typename Store::To*>(out) + r * out_row;
    const auto* const from = static_cast<const typename Load::From*>(args[0].data) + r * args[0].row_stride;
    int64_t c = 0;
    if (uniform & 1) {
      const __m512 same = F::run(_mm512_set1_ps(_mm512_cvtss_f32(Load::get(from, 1))));
      for (; c + 16 <= cols; c += 16) Store::put(to + c, same);
      Store::put(to + c, same, lanes(cols - c));
      continue;
    }
    for (; c + 16 <= cols; c += 16) Store::put(to + c, F::run(Load::get(from + c)));
    if (const __mmask16 rest = lanes(cols - c)) Store::put(to + c, F::run(Load::get(from + c, rest)), rest);
  }
}

}  // namespace

extern "C" constinit const PointwiseBf16Kernels TENFOLD_TABLE(pointwise_bf16) = {
    map<Same, FromF32, ToBf16>, map<Same, FromF32, RoundToBf16>, {map<GeluErf, FromF32, ToBf16>, map<GeluErf, FromBf16, ToBf16>}};

}  // namespace tenfold::backends::cpu
