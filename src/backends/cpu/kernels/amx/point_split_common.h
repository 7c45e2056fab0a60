// What the products of f32 in three terms share: shapes of tiles, and the six products of terms that count.
#pragma once

#include <x86intrin.h>

#include <algorithm>
#include <type_traits>

#include "backends/cpu/kernels/amx/tile_registers.h"
#include "backends/cpu/kernels/amx/tile_shapes.h"
#include "backends/cpu/kernels/conv/point_split.h"

namespace tenfold::backends::cpu {
namespace {

using K = PointSplitKernels;
constexpr std::int64_t kTileBytes = 1024, kSumsFloats = 1024, kAhead = 12;  // steps of columns that are asked for in advance

inline __mmask16 lanes_of(std::int64_t left) { return left >= 16 ? 0xffff : static_cast<__mmask16>((1u << (left > 0 ? left : 0)) - 1); }

// Numbers as they are. The upper half of what is none stays none, of a signalling one, too, whose payload may lie in the lower half.
inline __m512 quiet(__m512 v) {
  const __m512i bits = _mm512_castps_si512(v);
  return _mm512_castsi512_ps(_mm512_mask_or_epi32(bits, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), bits, _mm512_set1_epi32(1 << 22)));
}

// 32 values of a row in three terms, to[0 .. 2], split as in split.h, but in the order of pairs (i, i + 16), which takes fewer
// instructions. What is not finite leaves no number, by which it is found, and is in the last term alone.
inline void split_in_pairs(__m512 low, __m512 high, __m512i* to) {
  alignas(64) static constexpr std::uint32_t kUpperHalves[16] = {0x80800302, 0x80800706, 0x80800b0a, 0x80800f0e, 0x80800302, 0x80800706,
                                                                 0x80800b0a, 0x80800f0e, 0x80800302, 0x80800706, 0x80800b0a, 0x80800f0e,
                                                                 0x80800302, 0x80800706, 0x80800b0a, 0x80800f0e};
  const __m512i upper = _mm512_load_si512(kUpperHalves), high_bits = _mm512_set1_epi32(static_cast<int>(0xffff0000));
  const auto narrow = [&](__m512 a, __m512 b) {
    return _mm512_mask_shuffle_epi8(_mm512_castps_si512(b), 0x3333333333333333, _mm512_castps_si512(a), upper);
  };
  const auto truncate = [&](__m512 v) { return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(v), high_bits)); };
  const __m512 low1 = _mm512_sub_ps(low, truncate(low)), high1 = _mm512_sub_ps(high, truncate(high));
  const __m512 low2 = _mm512_sub_ps(low1, truncate(low1)), high2 = _mm512_sub_ps(high1, truncate(high1));
  to[0] = narrow(low, high), to[1] = narrow(low1, high1), to[2] = narrow(low2, high2);
  if (_mm512_cmp_ps_mask(low2, high2, _CMP_UNORD_Q) == 0) [[likely]]
    return;
  const __m512i whole = narrow(quiet(low), quiet(high));
  const __mmask32 special = _mm512_cmpeq_epi16_mask(_mm512_and_si512(whole, _mm512_set1_epi16(0x7f80)), _mm512_set1_epi16(0x7f80));
  to[0] = _mm512_maskz_mov_epi16(_knot_mask32(special), whole), to[1] = _mm512_maskz_mov_epi16(_knot_mask32(special), to[1]);
  to[2] = _mm512_mask_mov_epi16(to[2], special, whole);
}

// 16 values of a row in pairs of terms, to[0 .. 2]: the third and the first, the first twice, the second twice.
inline void split_in_stacks(__m512 v, __m512i* to) {
  const __m512i high_bits = _mm512_set1_epi32(static_cast<int>(0xffff0000));
  const auto rest = [&](__m512 x) { return _mm512_sub_ps(x, _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(x), high_bits))); };
  const auto pair = [&](__m512 a, __m512 b) {  // of their high halves
    return _mm512_or_si512(_mm512_srli_epi32(_mm512_castps_si512(a), 16), _mm512_and_si512(_mm512_castps_si512(b), high_bits));
  };
  __m512 v1 = rest(v), v2 = rest(v1);
  if (const __mmask16 special = _mm512_cmp_ps_mask(v2, v2, _CMP_UNORD_Q); special != 0) [[unlikely]] {
    v2 = _mm512_mask_mov_ps(v2, special, quiet(v));
    v1 = _mm512_maskz_mov_ps(_knot_mask16(special), v1), v = _mm512_maskz_mov_ps(_knot_mask16(special), v);
  }
  to[0] = pair(v2, v), to[1] = pair(v, v), to[2] = pair(v1, v1);
}

// Tiles of rows and of sums are `height` rows high, those of columns whole. Tables, for GCC 12 does not see what _tile_loadconfig reads.
struct Heights {
  TileShapes of[17];
  constexpr Heights(int first_column, int last_column) {
    for (int height = 1; height <= 16; ++height)
      for (int tile = 0; tile < 8; ++tile)
        if (tile < first_column || tile > last_column) of[height].rows[tile] = static_cast<std::uint8_t>(height);
  }
};

// Tiles 0-3 are sums. The first `kTerms` terms of columns, 4-6, times a term of rows, 7.
template <int kTile, int kTerms>
inline void add_rows() {
  if constexpr (kTerms > 2) multiply_bf16<kTile, 7, 6>();
  if constexpr (kTerms > 1) multiply_bf16<kTile, 7, 5>();
  multiply_bf16<kTile, 7, 4>();
}

// The same with 4-6 the terms of rows, 7 one of columns.
template <int kTile, int kTerms>
inline void add_columns() {
  if constexpr (kTerms > 2) multiply_bf16<kTile, 6, 7>();
  if constexpr (kTerms > 1) multiply_bf16<kTile, 5, 7>();
  multiply_bf16<kTile, 4, 7>();
}

// And 5 and 6 alone.
template <int kTile>
inline void add_stacks() {
  multiply_bf16<kTile, 5, 7>();
  multiply_bf16<kTile, 6, 7>();
}

}  // namespace
}  // namespace tenfold::backends::cpu
