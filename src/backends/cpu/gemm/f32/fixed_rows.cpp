#include "backends/cpu/gemm/f32/fixed_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"   // the header's undefined vectors
#endif

namespace tenfold::backends::cpu {
namespace {

constexpr int kLine = 16;

double in_order(const double (&parts)[kLine]) {
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

void add_rest(const float* row, std::int64_t from, std::int64_t count, double (&parts)[kLine]) {
  for (std::int64_t n = from; n < count; ++n) parts[n - from] += double{row[n]} * double{row[n]};
}

double squares(const float* row, std::int64_t count) {
  double parts[kLine] = {};
  std::int64_t n = 0;
  for (; n + kLine <= count; n += kLine)
    for (int c = 0; c < kLine; ++c) parts[c] += double{row[n + c]} * double{row[n + c]};
  add_rest(row, n, count, parts);
  return in_order(parts);
}

void raise(const float* row, std::int64_t count, float balance, float* step) {
  for (std::int64_t n = 0; n < count; ++n) step[n] = std::max(step[n], std::abs(row[n]) / balance);
}

void bytes(const FixedRows::Four& four) {
  for (std::int64_t line = 0; line < four.lines; ++line) {
    std::int32_t values[4][kLine];
    for (int r = 0; r < 4; ++r)
      for (int c = 0; c < kLine; ++c) {
        const std::int64_t n = line * kLine + c;
        const double scaled = double{four.from[r * four.stride + n]} * four.rows[r] * four.columns[n];
        values[r][c] = static_cast<std::int32_t>(std::nearbyint(std::clamp(scaled, double(-four.largest), double(four.largest))));
      }
    char* const to = four.to + line / 2 * four.panel + line % 2 * 1024;
    for (int byte = 2; byte >= 0; --byte)   // the lowest first; what is left goes into the next, for bytes are signed
      for (int c = 0; c < kLine; ++c)
        for (int r = 0; r < 4; ++r) {
          to[byte * 2048 + c * 4 + r] = static_cast<char>(values[r][c]);
          values[r][c] = (values[r][c] + 128) >> 8;
        }
  }
}

#if defined(__x86_64__)

#define TENFOLD_WIDE __attribute__((target("avx512f")))

TENFOLD_WIDE __m512d low_half(__m512 x) { return _mm512_cvtps_pd(_mm512_castps512_ps256(x)); }
TENFOLD_WIDE __m512d high_half(__m512 x) {
  return _mm512_cvtps_pd(_mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1)));
}

TENFOLD_WIDE double squares_wide(const float* row, std::int64_t count) {
  __m512d low = _mm512_setzero_pd(), high = low;
  std::int64_t n = 0;
  for (; n + kLine <= count; n += kLine) {
    const __m512 x = _mm512_loadu_ps(row + n);
    const __m512d a = low_half(x), b = high_half(x);
    low = _mm512_add_pd(low, _mm512_mul_pd(a, a)), high = _mm512_add_pd(high, _mm512_mul_pd(b, b));
  }
  double parts[kLine];
  _mm512_storeu_pd(parts, low), _mm512_storeu_pd(parts + 8, high);
  add_rest(row, n, count, parts);
  return in_order(parts);
}

TENFOLD_WIDE void raise_wide(const float* row, std::int64_t count, float balance, float* step) {
  std::int64_t n = 0;
  for (; n + kLine <= count; n += kLine) {
    const __m512 ratio = _mm512_div_ps(_mm512_abs_ps(_mm512_loadu_ps(row + n)), _mm512_set1_ps(balance));
    _mm512_storeu_ps(step + n, _mm512_max_ps(ratio, _mm512_loadu_ps(step + n)));
  }
  raise(row + n, count - n, balance, step + n);
}

TENFOLD_WIDE __m256i rounded(__m512d x, double row, __m512d columns, __m512d upper) {
  const __m512d scaled = _mm512_mul_pd(_mm512_mul_pd(x, _mm512_set1_pd(row)), columns);
  const __m512d lower = _mm512_sub_pd(_mm512_setzero_pd(), upper);
  return _mm512_cvt_roundpd_epi32(_mm512_max_pd(_mm512_min_pd(scaled, upper), lower), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

TENFOLD_WIDE void bytes_wide(const FixedRows::Four& four) {
  const __m512d upper = _mm512_set1_pd(four.largest);
  const __m512i byte_of = _mm512_set1_epi32(255);
  for (std::int64_t line = 0; line < four.lines; ++line) {
    const __m512d low = _mm512_loadu_pd(four.columns + line * kLine), high = _mm512_loadu_pd(four.columns + line * kLine + 8);
    __m512i values[4];
    for (int r = 0; r < 4; ++r) {
      const __m512 x = _mm512_loadu_ps(four.from + r * four.stride + line * kLine);
      values[r] = _mm512_inserti64x4(_mm512_castsi256_si512(rounded(low_half(x), four.rows[r], low, upper)),
                                     rounded(high_half(x), four.rows[r], high, upper), 1);
    }
    char* const to = four.to + line / 2 * four.panel + line % 2 * 1024;
    for (int byte = 2; byte >= 0; --byte) {
      __m512i word = _mm512_setzero_si512();
      for (int r = 0; r < 4; ++r) {
        word = _mm512_or_si512(word, _mm512_slli_epi32(_mm512_and_si512(values[r], byte_of), static_cast<unsigned>(8 * r)));
        values[r] = _mm512_srai_epi32(_mm512_add_epi32(values[r], _mm512_set1_epi32(128)), 8);
      }
      _mm512_storeu_si512(to + byte * 2048, word);
    }
  }
}

#undef TENFOLD_WIDE
#endif

}  // namespace

const FixedRows& portable_fixed_rows() {
  static constexpr FixedRows rows{squares, raise, bytes};
  return rows;
}

const FixedRows& fixed_rows() {
#if defined(__x86_64__)
  static constexpr FixedRows wide{squares_wide, raise_wide, bytes_wide};
  if (__builtin_cpu_supports("avx512f")) return wide;
#endif
  return portable_fixed_rows();
}

}  // namespace tenfold::backends::cpu
