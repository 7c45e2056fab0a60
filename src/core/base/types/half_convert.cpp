// Conversion by the processor's own instruction where it has one.
#include "base/types/half_convert.h"

#include "base/threads/spread.h"
#include "base/types/half.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tenfold {
namespace {

#if defined(__x86_64__)
// Eight at a time; NaNs, whose payload the instruction keeps, go one by one.
__attribute__((target("avx,f16c"))) std::size_t by_instruction(const float* from, std::uint16_t* to, std::size_t count) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 x = _mm256_loadu_ps(from + i);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    if (_mm256_movemask_ps(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)) != 0)
      for (std::size_t k = i; k < i + 8; ++k) to[k] = float_to_half(from[k]);
  }
  return i;
}
#endif

void stretch_to_fp16(const float* from, std::uint16_t* to, std::size_t count) {
  std::size_t i = 0;
#if defined(__x86_64__)
  // Every processor with AVX2 has F16C, too; clang 14 does not know that name.
  if (__builtin_cpu_supports("avx2")) i = by_instruction(from, to, count);
#endif
  for (; i < count; ++i) to[i] = float_to_half(from[i]);
}

}  // namespace

void floats_to_fp16(const float* from, std::uint16_t* to, std::size_t count) {
  const auto all = static_cast<std::int64_t>(count);
  spread_stretches(all, 8, 6 * all, [&](std::int64_t begin, std::int64_t end) {
    stretch_to_fp16(from + begin, to + begin, static_cast<std::size_t>(end - begin));
  });
}

}  // namespace tenfold
