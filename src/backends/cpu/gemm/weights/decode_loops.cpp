#include "backends/cpu/gemm/weights/decode_loops.h"

#include <cmath>
#include <cstring>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"         // the header's undefined vectors
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace tenfold::backends::cpu {
namespace {

using Line = DecodeLoops::Line;
using Product = DecodeLoops::Product;
constexpr int kLine = DecodeLoops::kLine, kColumns = DecodeLoops::kColumns;
constexpr double kMax = std::numeric_limits<float>::max(), kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kFour = 64, kByte = 2048;   // bytes of tiles: of four rows of a line, and to the next lower byte of each weight

const char* four_of(const Line& line, int row) { return line.from + (line.at + row) / 4 * kFour; }

int pair_of(const Line& line, int row, int column) {
  std::int16_t value;
  std::memcpy(&value, line.from + row * line.stride + column * 4 + line.at * 2, 2);
  return value;
}
int byte_of(const Line& line, int row, int column) {
  return static_cast<signed char>(line.from[row * line.stride + column * 2 + line.at]);
}
int tile_of(const Line& line, int row, int column) {
  const char* const word = four_of(line, row) + column * 4 + (line.at + row) % 4;
  const auto byte = [&](int i) { return int{static_cast<signed char>(word[i * kByte])}; };
  return byte(0) * 65536 + byte(1) * 256 + byte(2);
}

template <int (*integer)(const Line&, int, int)>
void decode(const Line& line) {
  for (int i = 0; i < line.rows; ++i)
    for (int c = 0; c < kLine; ++c) {
      const int value = integer(line, i, c);
      double& to = line.to[i * kColumns + c];
      to = value * (double{line.step[c]} * double{line.balance[i]});
      if (line.largest == 0) continue;
      if (value == -line.largest - 2) to = kNaN;
      else if (std::abs(value) > line.largest) to = std::copysign(kInfinity, value);
      else to = std::clamp(to, -kMax, kMax);
    }
}

void add(const Product& p) {
  for (int r = 0; r < p.count; ++r)
    for (std::int64_t i = 0; i < p.depth; ++i)
      for (int c = 0; c < kColumns; ++c) p.sums[r * kColumns + c] += double{p.rows[r][p.first + i]} * p.weights[i * kColumns + c];
}

#if defined(__x86_64__)

#define TENFOLD_WIDE __attribute__((target("avx512f")))

TENFOLD_WIDE __m512i pairs_of(const Line& line, int row) {
  const __m512i both = _mm512_loadu_si512(line.from + row * line.stride);
  return _mm512_srai_epi32(line.at == 0 ? _mm512_slli_epi32(both, 16) : both, 16);
}
TENFOLD_WIDE __m512i bytes_of(const Line& line, int row) {
  const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line.from + row * line.stride));
  return _mm512_srai_epi32(_mm512_slli_epi32(_mm512_cvtepi16_epi32(both), line.at == 0 ? 24 : 16), 24);
}
TENFOLD_WIDE __m512i tiles_of(const Line& line, int row) {
  const char* const four = four_of(line, row);
  const __m128i up = _mm_cvtsi32_si128(24 - (line.at + row) % 4 * 8);   // what brings the byte to the top
  const __m512i high = _mm512_sll_epi32(_mm512_loadu_si512(four), up), middle = _mm512_sll_epi32(_mm512_loadu_si512(four + kByte), up);
  const __m512i low = _mm512_sll_epi32(_mm512_loadu_si512(four + 2 * kByte), up);
  const __m512i upper = _mm512_add_epi32(_mm512_slli_epi32(_mm512_srai_epi32(high, 24), 8), _mm512_srai_epi32(middle, 24));
  return _mm512_add_epi32(_mm512_slli_epi32(upper, 8), _mm512_srai_epi32(low, 24));
}

// Eight weights: `integers` times `scale`, where none is special; `bits` begin with those of the eight.
TENFOLD_WIDE __m512d limited(__m512d weights, unsigned infinite, unsigned negative, unsigned nan) {
  weights = _mm512_max_pd(_mm512_min_pd(weights, _mm512_set1_pd(kMax)), _mm512_set1_pd(-kMax));
  weights = _mm512_mask_mov_pd(weights, static_cast<__mmask8>(infinite), _mm512_set1_pd(kInfinity));
  weights = _mm512_mask_mov_pd(weights, static_cast<__mmask8>(negative), _mm512_set1_pd(-kInfinity));
  return _mm512_mask_mov_pd(weights, static_cast<__mmask8>(nan), _mm512_set1_pd(kNaN));
}

template <__m512i (*integers)(const Line&, int)>
TENFOLD_WIDE void decode_wide(const Line& line) {
  const __m512d first = _mm512_cvtps_pd(_mm256_loadu_ps(line.step)), second = _mm512_cvtps_pd(_mm256_loadu_ps(line.step + 8));
  for (int i = 0; i < line.rows; ++i) {
    const __m512i values = integers(line, i);
    const __m512d balance = _mm512_set1_pd(line.balance[i]);
    __m512d low = _mm512_mul_pd(_mm512_cvtepi32_pd(_mm512_castsi512_si256(values)), _mm512_mul_pd(first, balance));
    __m512d high = _mm512_mul_pd(_mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(values, 1)), _mm512_mul_pd(second, balance));
    if (line.largest != 0) {
      const unsigned infinite = _mm512_cmpgt_epi32_mask(values, _mm512_set1_epi32(line.largest));
      const unsigned negative = _mm512_cmplt_epi32_mask(values, _mm512_set1_epi32(-line.largest));
      const unsigned nan = _mm512_cmpeq_epi32_mask(values, _mm512_set1_epi32(-line.largest - 2));
      low = limited(low, infinite, negative, nan), high = limited(high, infinite >> 8, negative >> 8, nan >> 8);
    }
    _mm512_storeu_pd(line.to + i * kColumns, low), _mm512_storeu_pd(line.to + i * kColumns + 8, high);
  }
}

template <int kRows>
TENFOLD_WIDE void add_rows(const Product& p, int row) {
  constexpr int kVectors = kColumns / 8;
  const float* const* const rows = p.rows + row;
  double* const to = p.sums + row * kColumns;
  __m512d sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows * kVectors; ++i) sums[i / kVectors][i % kVectors] = _mm512_loadu_pd(to + i * 8);
  for (std::int64_t i = 0; i < p.depth; ++i) {
    __m512d weights[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) weights[v] = _mm512_loadu_pd(p.weights + i * kColumns + v * 8);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const __m512d x = _mm512_set1_pd(rows[r][p.first + i]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm512_fmadd_pd(x, weights[v], sums[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows * kVectors; ++i) _mm512_storeu_pd(to + i * 8, sums[i / kVectors][i % kVectors]);
}

void add_wide(const Product& p) {
  int row = 0;
  for (; row + 4 <= p.count; row += 4) add_rows<4>(p, row);
  if (p.count - row == 3) add_rows<3>(p, row);
  if (p.count - row == 2) add_rows<2>(p, row);
  if (p.count - row == 1) add_rows<1>(p, row);
}

#undef TENFOLD_WIDE
#endif

}  // namespace

const DecodeLoops& portable_decode_loops() {
  static constexpr DecodeLoops loops{decode<pair_of>, decode<tile_of>, decode<byte_of>, add};
  return loops;
}

const DecodeLoops& decode_loops() {
#if defined(__x86_64__)
  static constexpr DecodeLoops wide{decode_wide<pairs_of>, decode_wide<tiles_of>, decode_wide<bytes_of>, add_wide};
  static const bool has_wide = __builtin_cpu_supports("avx512f");
  if (has_wide) return wide;
#endif
  return portable_decode_loops();
}

}  // namespace tenfold::backends::cpu
