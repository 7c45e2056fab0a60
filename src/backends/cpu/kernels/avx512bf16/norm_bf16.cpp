// Layer normalization of rows of bf16, in a fixed order of summation.
#include <immintrin.h>

#include "backends/cpu/kernels/norm/norm.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using std::int64_t;
using std::uint16_t;

inline __m512 upper(__m512i pairs) { return _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(-0x10000))); }
inline __m512 lower(__m512i pairs) { return _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)); }
inline __m512 widened(__m256i v) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16)); }

// Sums of x - pivot and of its square; a pivot near the row keeps the digits of a small variance.
struct Sums {
  __m512 pivot, sum[4] = {}, squares[4] = {};
  void add(int way, __m512 x) {
    const __m512 d = _mm512_sub_ps(x, pivot);
    sum[way] = _mm512_add_ps(sum[way], d);
    squares[way] = _mm512_fmadd_ps(d, d, squares[way]);
  }
};

template <bool kBias>
void scale_row(const uint16_t* x, uint16_t* y, const float* scale, const float* bias, int64_t n, float inverse, float shift) {
  const __m512 a = _mm512_set1_ps(inverse), b = _mm512_set1_ps(shift);
  const auto result = [&](__m512 v, __m512 s, __m512 o) {
    const __m512 t = _mm512_fmadd_ps(v, a, b);
    return reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(kBias ? _mm512_fmadd_ps(t, s, o) : _mm512_mul_ps(t, s)));
  };
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m512 v = widened(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i)));
    const __m512 o = kBias ? _mm512_loadu_ps(bias + i) : _mm512_setzero_ps();
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i), result(v, _mm512_loadu_ps(scale + i), o));
  }
  if (i == n) return;
  const auto rest = static_cast<__mmask16>((1u << (n - i)) - 1);
  const __m512 v = widened(_mm256_maskz_loadu_epi16(rest, x + i));
  const __m512 o = kBias ? _mm512_maskz_loadu_ps(rest, bias + i) : _mm512_setzero_ps();
  _mm256_mask_storeu_epi16(y + i, rest, result(v, _mm512_maskz_loadu_ps(rest, scale + i), o));
}

void layer_norm(const uint16_t* x, uint16_t* y, const float* scale, const float* bias, int64_t n, float epsilon) {
  const float pivot = __builtin_bit_cast(float, static_cast<std::uint32_t>(n > 0 ? x[0] : 0) << 16);
  Sums s{_mm512_set1_ps(pivot)};
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m512i first = _mm512_loadu_si512(x + i), second = _mm512_loadu_si512(x + i + 32);
    s.add(0, lower(first));
    s.add(1, upper(first));
    s.add(2, lower(second));
    s.add(3, upper(second));
  }
  for (; i + 32 <= n; i += 32) {
    const __m512i pairs = _mm512_loadu_si512(x + i);
    s.add(0, lower(pairs));
    s.add(1, upper(pairs));
  }
  if (i < n) {  // what is missing counts as the pivot
    const auto rest = static_cast<__mmask32>((std::uint64_t{1} << (n - i)) - 1);
    const __m512i pairs = _mm512_mask_loadu_epi16(_mm512_set1_epi16(static_cast<short>(x[0])), rest, x + i);
    s.add(0, lower(pairs));
    s.add(1, upper(pairs));
  }
  const auto total = [](const __m512 (&v)[4]) {
    return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(v[0], v[1]), _mm512_add_ps(v[2], v[3])));
  };
  const float each = 1.f / static_cast<float>(n), off = total(s.sum) * each, variance = total(s.squares) * each - off * off;
  const float inverse = 1.f / __builtin_sqrtf((variance < 0 ? 0.f : variance) + epsilon), shift = -(pivot + off) * inverse;
  bias ? scale_row<true>(x, y, scale, bias, n, inverse, shift) : scale_row<false>(x, y, scale, bias, n, inverse, shift);
}

}  // namespace

extern "C" constinit const NormBf16Kernels TENFOLD_TABLE(norm_bf16) = {layer_norm};

}  // namespace tenfold::backends::cpu
