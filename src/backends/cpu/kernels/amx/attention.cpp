// Fused attention with AMX: blocks of keys, products of bf16 on tiles, an online softmax of f32 between them in first-level cache.
//
// Scores of 32 query rows are computed at once, weighed, rounded to bf16 in their place, and multiplied with the values. Keys are packed
// as pairs along the head, values as pairs of rows, as tiles want them. Exponents are in units of log 2. Heads of f32 that may not be
// rounded come in two terms, side by side, as in kernels/gemm/gemm_bf16.h.
#include "backends/cpu/kernels/attention/attention.h"

#include <immintrin.h>

#include "backends/cpu/kernels/amx/attention_pack.h"
#include "backends/cpu/kernels/amx/attention_gemm.h"
#include "backends/cpu/kernels/amx/attention_softmax.h"
#include "backends/cpu/kernels/amx/tile_shapes.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

template <bool kNarrow>
void finish(const AttentionHead& a, const Scratch& s, const Group& g, const float* sums) {
  for (int64_t r = 0; r < g.rows; ++r) {
    const float total = s.total[g.row + r];
    const __m512 inverse = _mm512_set1_ps(total == 0 ? a.hidden_row : 1.f / total);
    const int64_t first = (g.row + r) * a.out_row, size = a.value_size;
    int64_t i = 0;
    const auto next = [&] { return _mm512_mul_ps(_mm512_load_ps(sums + r * s.width + i), inverse); };
    if constexpr (kNarrow) {
      auto* const to = static_cast<uint16_t*>(a.out) + first;
      for (; i + 16 <= size; i += 16)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(next())));
      if (i < size) _mm256_mask_storeu_epi16(to + i, lanes(size - i), reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(next())));
    } else {
      auto* const to = static_cast<float*>(a.out) + first;
      for (; i + 16 <= size; i += 16) _mm512_storeu_ps(to + i, next());
      if (i < size) _mm512_mask_storeu_ps(to + i, lanes(size - i), next());
    }
  }
}

template <bool kNarrow, int kTerms>
void attend(const AttentionHead& a, const Scratch& s) {
  copy_queries<kNarrow, kTerms>(a, s);
  const bool once = a.keys <= kKeys;
  for (int64_t key = 0; key < a.keys; key += kKeys) {
    const int64_t keys = a.keys - key < kKeys ? a.keys - key : kKeys, steps = up_to(keys, 32) / 32;
    if (key > 0 && a.first_row + a.rows - 1 + a.causal_shift < key) break;  // no row of this call sees this block or a later one
    pack_keys<kNarrow, kTerms>(row_of<kNarrow>(a.k, key, a.k_row), a.k_row, keys, a.size, s.depth, s.keys);
    pack_values<kNarrow, kTerms>(row_of<kNarrow>(a.v, key, a.v_row), a.v_row, keys, a.value_size, steps, s.values);
    const bool masked = a.mask && (a.mask_row || load_bias(a, 0, key, keys, s.bias));  // rows of zeros hide nothing
    for (int64_t row = 0; row < a.rows; row += kGroup) {
      const Group g{row, a.rows - row < kGroup ? a.rows - row : kGroup, key, keys, masked};
      const int64_t wide = up_to(g.seen(a, g.rows - 1), 32);  // for the last row sees most
      float* const sums = s.sums + (once ? 0 : row * s.width);
      if (wide == 0 && key > 0) continue;
      multiply_panels<false, kTerms>(g.rows, s.query + row * s.depth * kTerms, s.depth * 2 * kTerms, s.keys, 32 * s.depth, s.depth / 32,
                                     wide, s.scores, s.score_row);
      weigh<kTerms>(a, s, g, wide, sums, key == 0);
      if (key == 0)
        multiply_panels<false, kTerms>(g.rows, s.scores, s.score_row * 4, s.values, steps * kStep, wide / 32, s.width, sums, s.width);
      else
        multiply_panels<true, kTerms>(g.rows, s.scores, s.score_row * 4, s.values, steps * kStep, wide / 32, s.width, sums, s.width);
      const bool last = key + kKeys >= a.keys || a.first_row + row + g.rows - 1 + a.causal_shift < key + kKeys;
      if (last) finish<kNarrow>(a, s, g, sums);
    }
  }
}

template <int kTerms>
void head(const AttentionHead& a, void* scratch) {
  Scratch s{};
  lay_out(a.size, a.value_size, kTerms, static_cast<char*>(scratch), s);
  if (a.keys == 0) {
    for (int64_t r = 0; r < a.rows; ++r)
      __builtin_memset(static_cast<char*>(a.out) + r * a.out_row * (a.narrow ? 2 : 4), 0,
                       static_cast<unsigned long>(a.value_size * (a.narrow ? 2 : 4)));
    return;
  }
  _tile_loadconfig(&kWholeTiles);
  if constexpr (kTerms == 2)
    attend<false, 2>(a, s);
  else
    a.narrow ? attend<true, 1>(a, s) : attend<false, 1>(a, s);
  _tile_release();
}

}  // namespace

extern "C" constinit const AttentionKernels TENFOLD_TABLE(attention) = {kRows, scratch_bytes<1>, head<1>};
extern "C" constinit const AttentionKernels TENFOLD_TABLE(attention_split) = {kRows, scratch_bytes<2>, head<2>};

}  // namespace tenfold::backends::cpu
