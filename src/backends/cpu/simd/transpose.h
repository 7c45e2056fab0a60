// Transposes of small blocks in registers.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace tenfold::simd {

// to[c * to_row + r] = from[r * from_row + c] for a block of 32-bit elements: the first `rows` rows, the others count as zero, to the
// first `columns` columns, all of whose eight elements are written. Of a row no more is read than the columns.
static inline __attribute__((always_inline)) void transpose_8x8(const float* from, std::int64_t from_row, int rows, float* to,
                                                                std::int64_t to_row, int columns) {
  alignas(32) static const std::int32_t kExist[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
  const __m256i exist = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kExist + 8 - columns));
  __m256 a[8], b[8];
  for (int i = 0; i < 8; ++i)
    a[i] = i >= rows ? _mm256_setzero_ps()
           : columns == 8 ? _mm256_loadu_ps(from + i * from_row)
                          : _mm256_maskload_ps(from + i * from_row, exist);
  for (int i = 0; i < 4; ++i) {
    b[2 * i] = _mm256_unpacklo_ps(a[2 * i], a[2 * i + 1]);
    b[2 * i + 1] = _mm256_unpackhi_ps(a[2 * i], a[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    a[4 * i] = _mm256_shuffle_ps(b[4 * i], b[4 * i + 2], 0x44);
    a[4 * i + 1] = _mm256_shuffle_ps(b[4 * i], b[4 * i + 2], 0xee);
    a[4 * i + 2] = _mm256_shuffle_ps(b[4 * i + 1], b[4 * i + 3], 0x44);
    a[4 * i + 3] = _mm256_shuffle_ps(b[4 * i + 1], b[4 * i + 3], 0xee);
  }
  for (int i = 0; i < 8; ++i)   // in order: a vector may write on into the next
    if (i < columns)
      _mm256_storeu_ps(to + i * to_row,
                       i < 4 ? _mm256_permute2f128_ps(a[i], a[i + 4], 0x20) : _mm256_permute2f128_ps(a[i - 4], a[i], 0x31));
}
static inline __attribute__((always_inline)) void transpose_8x8(const float* from, std::int64_t from_row, float* to, std::int64_t to_row) {
  transpose_8x8(from, from_row, 8, to, to_row, 8);
}

#if defined(__AVX512F__)
// A block of 16 x 16: whole lines of memory on both sides.
static inline __attribute__((always_inline)) void transpose_16x16(const float* from, std::int64_t from_row, float* to,
                                                                  std::int64_t to_row) {
  const auto low = [](__m512 a, __m512 b) { return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b))); };
  const auto high = [](__m512 a, __m512 b) { return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b))); };
  __m512 a[16], b[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) a[i] = _mm512_loadu_ps(from + i * from_row);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {  // pairs of rows
    b[2 * i] = _mm512_unpacklo_ps(a[2 * i], a[2 * i + 1]);
    b[2 * i + 1] = _mm512_unpackhi_ps(a[2 * i], a[2 * i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {  // fours of rows: quarter q of a[4 * i + j] is column 4 * q + j
    a[4 * i] = low(b[4 * i], b[4 * i + 2]), a[4 * i + 1] = high(b[4 * i], b[4 * i + 2]);
    a[4 * i + 2] = low(b[4 * i + 1], b[4 * i + 3]), a[4 * i + 3] = high(b[4 * i + 1], b[4 * i + 3]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {  // eights: even quarters, odd ones
    b[j] = _mm512_shuffle_f32x4(a[j], a[4 + j], 0x88), b[4 + j] = _mm512_shuffle_f32x4(a[8 + j], a[12 + j], 0x88);
    b[8 + j] = _mm512_shuffle_f32x4(a[j], a[4 + j], 0xdd), b[12 + j] = _mm512_shuffle_f32x4(a[8 + j], a[12 + j], 0xdd);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    _mm512_storeu_ps(to + j * to_row, _mm512_shuffle_f32x4(b[j], b[4 + j], 0x88));
    _mm512_storeu_ps(to + (4 + j) * to_row, _mm512_shuffle_f32x4(b[8 + j], b[12 + j], 0x88));
    _mm512_storeu_ps(to + (8 + j) * to_row, _mm512_shuffle_f32x4(b[j], b[4 + j], 0xdd));
    _mm512_storeu_ps(to + (12 + j) * to_row, _mm512_shuffle_f32x4(b[8 + j], b[12 + j], 0xdd));
  }
}
#endif

// The same of 16-bit elements.
static inline __attribute__((always_inline)) void transpose_8x8(const std::uint16_t* from, std::int64_t from_row, std::uint16_t* to,
                                                                std::int64_t to_row) {
  __m128i a[8], b[8];
  for (int i = 0; i < 8; ++i) a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * from_row));
  for (int i = 0; i < 4; ++i) {  // pairs of rows: columns 0-3, 4-7
    b[i] = _mm_unpacklo_epi16(a[2 * i], a[2 * i + 1]);
    b[i + 4] = _mm_unpackhi_epi16(a[2 * i], a[2 * i + 1]);
  }
  for (int i = 0; i < 4; ++i) {  // fours of rows: columns 0-1, 2-3, 4-5, 6-7, of the upper rows, then the lower
    a[i] = i % 2 ? _mm_unpackhi_epi32(b[i / 2 * 4], b[i / 2 * 4 + 1]) : _mm_unpacklo_epi32(b[i / 2 * 4], b[i / 2 * 4 + 1]);
    a[i + 4] = i % 2 ? _mm_unpackhi_epi32(b[i / 2 * 4 + 2], b[i / 2 * 4 + 3]) : _mm_unpacklo_epi32(b[i / 2 * 4 + 2], b[i / 2 * 4 + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * i * to_row), _mm_unpacklo_epi64(a[i], a[i + 4]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + (2 * i + 1) * to_row), _mm_unpackhi_epi64(a[i], a[i + 4]));
  }
}

}  // namespace tenfold::simd
