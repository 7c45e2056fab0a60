// Vectors of floats from memory that holds f32 or bf16, and back: kernels that only read and write differently are written once.
#pragma once

#include "backends/cpu/simd/f32.h"

namespace tenfold::simd {

TENFOLD_INLINE vf load_bf16(const std::uint16_t* p) { return as_float(shift_left<16>(widen_u16(p))); }
// To nearest even; NaN keeps a set mantissa bit.
TENFOLD_INLINE void store_bf16(std::uint16_t* p, vf v) {
  const vi bits = as_int(v), odd = andi(shift_right<16>(bits), set1i(1));
  const vf rounded = as_float(addi(bits, addi(odd, set1i(0x7fff))));
  const vf quiet = bits_or(v, as_float(set1i(0x00400000)));
  narrow16(p, shift_right<16>(as_int(blend(rounded, quiet, compare<_CMP_UNORD_Q>(v, v)))));
}

// Whole vectors and, of the last one of a row, n elements.
TENFOLD_INLINE vf load_any(const float* p) { return load(p); }
TENFOLD_INLINE vf load_any(const float* p, std::int64_t n) { return load_n(p, n); }
TENFOLD_INLINE void store_any(float* p, vf v) { store(p, v); }
TENFOLD_INLINE void store_any(float* p, vf v, std::int64_t n) { store_n(p, v, n); }
TENFOLD_INLINE vf load_any(const std::uint16_t* p) { return load_bf16(p); }
TENFOLD_INLINE void store_any(std::uint16_t* p, vf v) { store_bf16(p, v); }
#if defined(__AVX512F__)
TENFOLD_INLINE vf load_any(const std::uint16_t* p, std::int64_t n) {
  return as_float(shift_left<16>(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes(n), p))));
}
TENFOLD_INLINE void store_any(std::uint16_t* p, vf v, std::int64_t n) {
  std::uint16_t some[kLanes];
  store_bf16(some, v);
  _mm256_mask_storeu_epi16(p, lanes(n), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(some)));
}
#else
TENFOLD_INLINE vf load_any(const std::uint16_t* p, std::int64_t n) {
  std::uint16_t some[kLanes] = {};
  for (std::int64_t i = 0; i < n; ++i) some[i] = p[i];
  return load_bf16(some);
}
TENFOLD_INLINE void store_any(std::uint16_t* p, vf v, std::int64_t n) {
  std::uint16_t some[kLanes];
  store_bf16(some, v);
  for (std::int64_t i = 0; i < n; ++i) p[i] = some[i];
}
#endif

}  // namespace tenfold::simd
