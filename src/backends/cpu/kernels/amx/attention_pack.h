// Fused attention with AMX: queries as rows of A, keys and values as panels of B, rounded to bf16 or in two terms.
#pragma once

#include "backends/cpu/kernels/amx/attention_layout.h"
#include "backends/cpu/kernels/amx/split.h"
#include "backends/cpu/kernels/attention/attention.h"

namespace tenfold::backends::cpu {
namespace {

// Elements [at, at + 32) of a row that ends at `end`, as bf16; zeros behind the end.
template <bool kNarrow>
inline __m512i row_term(const void* row, int64_t at, int64_t end) {
  const int64_t left = end - at;
  if constexpr (kNarrow) {
    const auto* from = static_cast<const uint16_t*>(row) + at;
    if (left >= 32) return _mm512_loadu_si512(from);
    return _mm512_maskz_loadu_epi16(static_cast<__mmask32>((std::uint64_t{1} << left) - 1), from);
  } else {
    const auto* from = static_cast<const float*>(row) + at;
    const __m512 low = _mm512_maskz_loadu_ps(lanes(left), from), high = _mm512_maskz_loadu_ps(lanes(left - 16), from + 16);
    return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
  }
}
// Term `term` of two.
inline __m512i row_term_of(const void* row, int64_t at, int64_t end, int term) {
  const auto* from = static_cast<const float*>(row) + at;
  const int64_t left = end - at;
  __m512i both[2];
  round_in_two(_mm512_maskz_loadu_ps(lanes(left), from), _mm512_maskz_loadu_ps(lanes(left - 16), from + 16), both);
  return term == 0 ? both[0] : both[1];
}
template <bool kNarrow, int kTerms>
inline __m512i row_term(const void* row, int64_t at, int64_t end, int term) {
  if constexpr (kTerms == 2) return row_term_of(row, at, end, term);
  return row_term<kNarrow>(row, at, end);
}
template <bool kNarrow>
inline const void* row_of(const void* first, int64_t row, int64_t stride) {
  return static_cast<const char*>(first) + row * stride * (kNarrow ? 2 : 4);
}

// 16 rows of 16 pairs become 16 pairs of 16 rows.
inline void transpose(__m512i (&v)[16]) {
  __m512i w[16];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    w[2 * i] = _mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]);
    w[2 * i + 1] = _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {  // v[4i + j]: pairs j, j + 4, ... of rows 4i to 4i + 3
    v[4 * i] = _mm512_unpacklo_epi64(w[4 * i], w[4 * i + 2]);
    v[4 * i + 1] = _mm512_unpackhi_epi64(w[4 * i], w[4 * i + 2]);
    v[4 * i + 2] = _mm512_unpacklo_epi64(w[4 * i + 1], w[4 * i + 3]);
    v[4 * i + 3] = _mm512_unpackhi_epi64(w[4 * i + 1], w[4 * i + 3]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    w[j] = _mm512_shuffle_i32x4(v[j], v[4 + j], 0x88), w[4 + j] = _mm512_shuffle_i32x4(v[j], v[4 + j], 0xdd);
    w[8 + j] = _mm512_shuffle_i32x4(v[8 + j], v[12 + j], 0x88), w[12 + j] = _mm512_shuffle_i32x4(v[8 + j], v[12 + j], 0xdd);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    v[j] = _mm512_shuffle_i32x4(w[j], w[8 + j], 0x88), v[8 + j] = _mm512_shuffle_i32x4(w[j], w[8 + j], 0xdd);
    v[4 + j] = _mm512_shuffle_i32x4(w[4 + j], w[12 + j], 0x88), v[12 + j] = _mm512_shuffle_i32x4(w[4 + j], w[12 + j], 0xdd);
  }
}

template <bool kNarrow, int kTerms>
void pack_keys(const void* k, int64_t k_row, int64_t keys, int64_t size, int64_t depth, uint16_t* to) {
  for (int64_t key = 0; key < keys; key += 32, to += 32 * depth * kTerms)
    for (int64_t tile = 0; tile < 2; ++tile)
      for (int64_t step = 0; step < depth / 32 * kTerms; ++step) {
        __m512i v[16];
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) {
          const int64_t row = key + tile * 16 + i;
          v[i] = row < keys ? row_term<kNarrow, kTerms>(row_of<kNarrow>(k, row, k_row), step / kTerms * 32, size, step % kTerms)
                          : _mm512_setzero_si512();
        }
        transpose(v);
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) _mm512_store_si512(to + step * kStep + tile * kTile + i * 32, v[i]);
      }
}

template <bool kNarrow, int kTerms>
void pack_values(const void* v, int64_t v_row, int64_t keys, int64_t size, int64_t steps, uint16_t* to) {
  const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  for (int64_t column = 0; column < size; column += 32, to += steps * kStep * kTerms)
    for (int64_t i = 0; i < steps * 16 * kTerms; ++i) {
      const int64_t key = i / kTerms * 2;
      const int term = static_cast<int>(i % kTerms);
      const __m512i none = _mm512_setzero_si512();
      const __m512i a = key < keys ? row_term<kNarrow, kTerms>(row_of<kNarrow>(v, key, v_row), column, size, term) : none;
      const __m512i b = key + 1 < keys ? row_term<kNarrow, kTerms>(row_of<kNarrow>(v, key + 1, v_row), column, size, term) : none;
      const __m512i x = _mm512_unpacklo_epi16(a, b), y = _mm512_unpackhi_epi16(a, b);
      uint16_t* const pair = to + (key / 32 * kTerms + term) * kStep + key % 32 * 16;
      _mm512_store_si512(pair, _mm512_permutex2var_epi64(x, low, y));
      _mm512_store_si512(pair + kTile, _mm512_permutex2var_epi64(x, high, y));
    }
}

template <bool kNarrow, int kTerms>
void copy_queries(const AttentionHead& a, const Scratch& s) {
  const int64_t steps = s.depth / 32 * kTerms;
  for (int64_t r = 0; r < a.rows; ++r)
    for (int64_t i = 0; i < steps; ++i)
      _mm512_store_si512(s.query + (r * steps + i) * 32, row_term<kNarrow, kTerms>(row_of<kNarrow>(a.q, r, a.q_row), i / kTerms * 32,
                                                                                  a.size, static_cast<int>(i % kTerms)));
}

}  // namespace
}  // namespace tenfold::backends::cpu
