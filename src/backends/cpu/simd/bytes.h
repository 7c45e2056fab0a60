// Vectors of floats from bytes in memory, beside those of bf16.h.
#pragma once

#include "backends/cpu/simd/bf16.h"

namespace tenfold::simd {

TENFOLD_INLINE vf load_any(const std::int8_t* p) { return to_float(widen_i8(p)); }
#if defined(__AVX512F__)
TENFOLD_INLINE vf load_any(const std::int8_t* p, std::int64_t n) {
  return to_float(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(lanes(n), p)));
}
#else
TENFOLD_INLINE vf load_any(const std::int8_t* p, std::int64_t n) {
  std::int8_t some[kLanes] = {};
  for (std::int64_t i = 0; i < n; ++i) some[i] = p[i];
  return load_any(some);
}
#endif

}  // namespace tenfold::simd
