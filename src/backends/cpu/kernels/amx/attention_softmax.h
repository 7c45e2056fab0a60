// Fused attention with AMX: scores become weights, block by block of keys (an online softmax).
#pragma once

#include "backends/cpu/kernels/amx/attention_layout.h"
#include "backends/cpu/kernels/amx/split.h"
#include "backends/cpu/kernels/attention/attention.h"

namespace tenfold::backends::cpu {
namespace {

// Lane r of the result joins all lanes of row r of v[16][16].
template <class Join>
inline __m512 across(const float* v, Join join) {
  __m512 a[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    const __m512 x = _mm512_load_ps(v + i * 16), y = _mm512_load_ps(v + (i + 8) * 16);
    a[i] = join(_mm512_shuffle_f32x4(x, y, 0x44), _mm512_shuffle_f32x4(x, y, 0xee));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) a[i] = join(_mm512_shuffle_f32x4(a[i], a[i + 4], 0x88), _mm512_shuffle_f32x4(a[i], a[i + 4], 0xdd));
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) a[i] = join(_mm512_unpacklo_ps(a[i], a[i + 2]), _mm512_unpackhi_ps(a[i], a[i + 2]));
  const __m512 last = join(_mm512_shuffle_ps(a[0], a[1], 0x44), _mm512_shuffle_ps(a[0], a[1], 0xee));
  return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 2, 1, 3, 8, 10, 9, 11, 4, 6, 5, 7, 12, 14, 13, 15), last);
}

// 2^x to 8e-5, a fraction of what bf16 rounds by; of two terms, to 1e-7. 2^-inf is 0.
template <int kTerms>
inline __m512 exp2(__m512 x) {
  if constexpr (kTerms == 2) {
    constexpr float c[] = {1.000000072f, 0.6931469712f, 0.2402211997f, 0.05550708143f, 0.009675527457f, 0.001327786946f};
    const __m512 r = _mm512_reduce_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512 p = _mm512_set1_ps(c[5]);
#pragma GCC unroll 5
    for (int i = 4; i >= 0; --i) p = _mm512_fmadd_ps(r, p, _mm512_set1_ps(c[i]));
    return _mm512_scalef_ps(p, _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  const __m512 r = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);  // x - floor(x)
  __m512 p = _mm512_fmadd_ps(r, _mm512_set1_ps(0.0780245212f), _mm512_set1_ps(0.2260671575f));
  p = _mm512_fmadd_ps(r, p, _mm512_set1_ps(0.6958335398f));
  p = _mm512_fmadd_ps(r, p, _mm512_set1_ps(0.9999252186f));
  return _mm512_scalef_ps(p, x);
}

// The mask of one row over keys [key, key + keys) in units of log 2, and zeros up to a multiple of 32. Whether it is not zero everywhere.
inline bool load_bias(const AttentionHead& a, int64_t row, int64_t key, int64_t keys, float* to) {
  const int64_t at = row * a.mask_row + key * a.mask_col;
  const auto* wide = static_cast<const float*>(a.mask) + (a.narrow_mask ? 0 : at);
  const auto* narrow = static_cast<const uint16_t*>(a.mask) + (a.narrow_mask ? at : 0);
  const auto widened = [](__m256i x) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16)); };
  __m512i any = _mm512_setzero_si512();
  for (int64_t j = 0; j < up_to(keys, 32); j += 16) {
    const __mmask16 here = lanes(keys - j);
    __m512 x;
    if (a.mask_col == 0)
      x = a.narrow_mask ? widened(_mm256_set1_epi16(static_cast<short>(*narrow))) : _mm512_set1_ps(*wide);
    else
      x = a.narrow_mask ? widened(_mm256_maskz_loadu_epi16(here, narrow + j)) : _mm512_maskz_loadu_ps(here, wide + j);
    // Only what is infinite stays so: a row that is masked whole by the lowest float is an even mean of all values.
    const __mmask16 finite = _mm512_cmp_ps_mask(x, _mm512_set1_ps(kLowest), _CMP_NEQ_UQ);
    x = _mm512_mask_max_ps(x, finite, _mm512_set1_ps(kLowestMask), x);
    x = _mm512_maskz_mul_ps(here, x, _mm512_set1_ps(kLog2e));
    any = _mm512_or_si512(any, _mm512_castps_si512(x));
    _mm512_store_ps(to + j, x);
  }
  return _mm512_test_epi32_mask(any, any) != 0;
}

// Rows [row, row + rows) of a call, and what of a block of keys they see.
struct Group {
  int64_t row, rows, key, keys;
  bool masked;
  int64_t seen(const AttentionHead& a, int64_t r) const {  // keys that row r of the group sees
    const int64_t visible = a.first_row + row + r + a.causal_shift + 1 - key;
    return visible < 0 ? 0 : visible < keys ? visible : keys;
  }
};

// Largest score of each row into `lanes`, masks added, keys out of sight at minus infinity.
inline void look(const AttentionHead& a, const Scratch& s, const Group& g, int64_t wide) {
  const __m512 lowest = _mm512_set1_ps(kLowest), scale = _mm512_set1_ps(a.scale * kLog2e);
  for (int64_t r = 0; r < g.rows; ++r) {
    float* const score = s.scores + r * s.score_row;
    const int64_t seen = g.seen(a, r);
    for (int64_t j = seen; j < wide; j = (j / 16 + 1) * 16)
      _mm512_mask_storeu_ps(score + j / 16 * 16, static_cast<__mmask16>(0xffffu << j % 16), lowest);
    __m512 m0 = lowest, m1 = lowest;
    if (!g.masked) {
      for (int64_t j = 0; j < wide; j += 32) {
        m0 = _mm512_max_ps(_mm512_load_ps(score + j), m0);  // NaN is left out here and comes back with the sum
        m1 = _mm512_max_ps(_mm512_load_ps(score + j + 16), m1);
      }
      _mm512_store_ps(s.lanes + r * 16, _mm512_mul_ps(_mm512_max_ps(m0, m1), scale));
      continue;
    }
    if (a.mask_row) load_bias(a, g.row + r, g.key, g.keys, s.bias);
    for (int64_t j = 0; j < wide; j += 16) {
      const __m512 x = _mm512_fmadd_ps(_mm512_load_ps(score + j), scale, _mm512_load_ps(s.bias + j));
      _mm512_store_ps(score + j, x);
      m0 = _mm512_max_ps(x, m0);
    }
    _mm512_store_ps(s.lanes + r * 16, m0);
  }
}

// Scores become weights in bf16, in their place (two terms fill it); what was summed before is scaled where a row's maximum rises.
template <int kTerms>
void weigh(const AttentionHead& a, const Scratch& s, const Group& g, int64_t wide, float* sums, bool first) {
  look(a, s, g, wide);
  const __m512 lowest = _mm512_set1_ps(kLowest), scale = _mm512_set1_ps(g.masked ? 1.f : a.scale * kLog2e);
  alignas(64) float shift[kGroup], factor[kGroup];
  for (int64_t r = 0; r < g.rows; r += 16) {
    const __m512 here = across(s.lanes + r * 16, [](__m512 x, __m512 y) __attribute__((always_inline)) { return _mm512_max_ps(x, y); });
    const __m512 before = first ? lowest : _mm512_load_ps(s.top + g.row + r);
    const __m512 now = _mm512_max_ps(here, before);
    const __mmask16 seen = _mm512_cmp_ps_mask(now, lowest, _CMP_NEQ_UQ);
    _mm512_store_ps(s.top + g.row + r, now);
    _mm512_store_ps(shift + r, _mm512_maskz_mov_ps(seen, now));
    _mm512_store_ps(factor + r, exp2<kTerms>(_mm512_sub_ps(before, _mm512_maskz_mov_ps(seen, now))));
  }
  for (int64_t r = 0; r < g.rows; ++r) {
    const float* const score = s.scores + r * s.score_row;
    auto* const weight = reinterpret_cast<uint16_t*>(s.scores + r * s.score_row);
    const __m512 down = _mm512_set1_ps(-shift[r]);
    __m512 s0 = _mm512_setzero_ps(), s1 = s0;
    for (int64_t j = 0; j < wide; j += 32) {
      const __m512 p0 = exp2<kTerms>(_mm512_fmadd_ps(_mm512_load_ps(score + j), scale, down));
      const __m512 p1 = exp2<kTerms>(_mm512_fmadd_ps(_mm512_load_ps(score + j + 16), scale, down));
      s0 = _mm512_add_ps(s0, p0);
      s1 = _mm512_add_ps(s1, p1);
      if constexpr (kTerms == 2) {
        __m512i terms[2];
        round_in_two(p0, p1, terms);
        _mm512_store_si512(weight + 2 * j, terms[0]);
        _mm512_store_si512(weight + 2 * j + 32, terms[1]);
      } else {
        _mm512_store_si512(weight + j, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(p1, p0)));
      }
    }
    _mm512_store_ps(s.lanes + r * 16, _mm512_add_ps(s0, s1));
    if (first || factor[r] == 1.f) continue;
    const __m512 by = _mm512_set1_ps(factor[r]);
    for (int64_t i = 0; i < s.width; i += 16)
      _mm512_store_ps(sums + r * s.width + i, _mm512_mul_ps(_mm512_load_ps(sums + r * s.width + i), by));
  }
  for (int64_t r = 0; r < g.rows; r += 16) {
    const __m512 here = across(s.lanes + r * 16, [](__m512 x, __m512 y) __attribute__((always_inline)) { return _mm512_add_ps(x, y); });
    const __m512 before = first ? _mm512_setzero_ps() : _mm512_load_ps(s.total + g.row + r);
    _mm512_store_ps(s.total + g.row + r, _mm512_fmadd_ps(before, _mm512_load_ps(factor + r), here));
  }
}

}  // namespace
}  // namespace tenfold::backends::cpu
