// f32 as a sum of bf16: two, the nearest one and what that leaves, have 16 bits of a value's 24; three have all.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace tenfold::backends::cpu {
namespace {

// The high term of each value, as f32. What rounding would make infinite is truncated. What is not finite has none, its low term is all of
// it: so infinity meets one term of the other operand only; a second one may be zero or of the other sign.
inline __m512 high_term(__m512 value, __m512 nearest) {
  const auto bits_of = [](int bits) { return _mm512_set1_epi32(bits); };
  const __m512i bits = _mm512_castps_si512(value), size = _mm512_and_si512(bits, bits_of(0x7fffffff));
  const __mmask16 large = _mm512_cmpge_epi32_mask(size, bits_of(0x7f7f8000));
  if (large == 0) [[likely]]
    return nearest;
  const __mmask16 finite = _mm512_cmplt_epi32_mask(size, bits_of(0x7f800000));
  const __m512i truncated = _mm512_maskz_and_epi32(finite, bits, bits_of(static_cast<int>(0xffff0000)));
  return _mm512_mask_mov_ps(nearest, large, _mm512_castsi512_ps(truncated));
}

// Values 0 to 15 and 16 to 31, to[0 .. 1].
inline void round_in_two(__m512 first, __m512 second, __m512i* to) {
  const __m512i nearest = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first));
  const auto widen = [](__m256i x) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16)); };
  const __m512 a = high_term(first, widen(_mm512_castsi512_si256(nearest)));
  const __m512 b = high_term(second, widen(_mm512_extracti64x4_epi64(nearest, 1)));
  to[0] = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(b, a));
  to[1] = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(_mm512_sub_ps(second, b), _mm512_sub_ps(first, a)));
}

// Truncated, not rounded, to[0 .. 2]: exact as well, and cheaper. What is not finite goes to the last term alone here, too, unless the
// caller knows that all is.
template <bool kFinite = false>
inline void split_in_three(__m512 first, __m512 second, __m512i* to) {
  constexpr int kNotFinite = 0x99;
  alignas(64) static constexpr std::uint16_t kHighHalves[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                                                33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  const __m512i high_halves = _mm512_load_si512(kHighHalves), high_bits = _mm512_set1_epi32(static_cast<int>(0xffff0000));
  const auto narrow = [&](__m512 a, __m512 b) {
    return _mm512_permutex2var_epi16(_mm512_castps_si512(a), high_halves, _mm512_castps_si512(b));
  };
  const auto finite = [](__m512 v) { return _knot_mask16(_mm512_fpclass_ps_mask(v, kNotFinite)); };
  const __mmask16 finite1 = kFinite ? 0xffff : finite(first), finite2 = kFinite ? 0xffff : finite(second);
  for (int term = 0; term < 2; ++term) {
    const __m512 a = _mm512_castsi512_ps(_mm512_maskz_and_epi32(finite1, _mm512_castps_si512(first), high_bits));
    const __m512 b = _mm512_castsi512_ps(_mm512_maskz_and_epi32(finite2, _mm512_castps_si512(second), high_bits));
    to[term] = kFinite ? narrow(first, second) : narrow(a, b);
    first = _mm512_sub_ps(first, a), second = _mm512_sub_ps(second, b);
  }
  to[2] = narrow(first, second);
}

}  // namespace
}  // namespace tenfold::backends::cpu
