// f32 as a sum of two bf16: the nearest one and what that leaves, 16 bits of a value's 24.
#pragma once

#include <immintrin.h>

namespace tenfold::backends::cpu {
namespace {

struct Split {
  __m512i high, low;   // 32 values
};

// The high part of each value, as f32. What rounding would make infinite is cut off. What is not finite has none, its low part is all of
// it: so infinity meets one part of the other operand only; a second one may be zero or of the other sign.
inline __m512 high_part(__m512 value, __m512 nearest) {
  const auto bits_of = [](int bits) { return _mm512_set1_epi32(bits); };
  const __m512i bits = _mm512_castps_si512(value), size = _mm512_and_si512(bits, bits_of(0x7fffffff));
  const __mmask16 large = _mm512_cmpge_epi32_mask(size, bits_of(0x7f7f8000));
  if (large == 0) [[likely]]
    return nearest;
  const __mmask16 finite = _mm512_cmplt_epi32_mask(size, bits_of(0x7f800000));
  const __m512i cut = _mm512_maskz_and_epi32(finite, bits, bits_of(static_cast<int>(0xffff0000)));
  return _mm512_mask_mov_ps(nearest, large, _mm512_castsi512_ps(cut));
}

// Values 0 to 15 and 16 to 31.
inline Split split(__m512 first, __m512 second) {
  const __m512i nearest = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first));
  const auto widen = [](__m256i x) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16)); };
  const __m512 a = high_part(first, widen(_mm512_castsi512_si256(nearest)));
  const __m512 b = high_part(second, widen(_mm512_extracti64x4_epi64(nearest, 1)));
  return {reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(b, a)),
          reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(_mm512_sub_ps(second, b), _mm512_sub_ps(first, a)))};
}

}  // namespace
}  // namespace tenfold::backends::cpu
