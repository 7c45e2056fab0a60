// Rounding to bf16 by the CPU's own instruction, and what need not be more precise, in loops of the block executor.
#include <immintrin.h>

#include "backends/cpu/kernels/pointwise.h"
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
// x Phi(x) to 1.2e-3 of itself, where bf16 rounds by up to 3.9e-3. Phi is 1 / (1 + 2^-t) with t an odd polynomial of x: our own minimax fit
// up to 4.2, straight from 5.5 on.
struct GeluErf {
  static __m512 run(__m512 x) {
    const auto c = [](float v) { return _mm512_set1_ps(v); };
    const __m512 u = _mm512_min_ps(_mm512_mul_ps(x, x), c(30.f));
    __m512 t = _mm512_fmadd_ps(u, c(-1.1990258825e-5f), c(0.0013948212f));
    t = _mm512_fmadd_ps(u, t, c(-0.1091875311f));
    t = _mm512_mul_ps(x, _mm512_fmadd_ps(u, t, c(-2.2979861574f)));
    const __m512 r = _mm512_reduce_ps(t, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);  // t - floor(t)
    __m512 p = _mm512_fmadd_ps(r, c(0.0780245212f), c(0.2260671575f));
    p = _mm512_fmadd_ps(r, p, c(0.6958335398f));
    p = _mm512_fmadd_ps(r, p, c(0.9999252186f));
    return _mm512_mul_ps(x, _mm512_rcp14_ps(_mm512_add_ps(_mm512_scalef_ps(p, t), c(1.f))));
  }
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
