// Int8Kernels::expand where values stay as they are.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace tenfold::backends::cpu {
namespace {

void int8_copy(const void* source, std::int64_t count, bool, void* packed) {
  const auto* from = static_cast<const char*>(source);
  auto* to = static_cast<char*>(packed);
  std::int64_t i = 0;
  for (; i + 64 <= count; i += 64) _mm512_storeu_si512(to + i, _mm512_loadu_si512(from + i));
  if (i < count) {
    const __mmask64 mask = _bzhi_u64(~0ULL, static_cast<unsigned>(count - i));
    _mm512_mask_storeu_epi8(to + i, mask, _mm512_maskz_loadu_epi8(mask, from + i));
  }
}

}  // namespace
}  // namespace tenfold::backends::cpu
