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

__attribute__((target("avx,f16c"))) std::size_t back_by_instruction(const std::uint16_t* from, float* to, std::size_t count) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 x = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
    _mm256_storeu_ps(to + i, x);
    if (_mm256_movemask_ps(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)) != 0)   // the instruction makes NaNs quiet
      for (std::size_t k = i; k < i + 8; ++k) to[k] = half_to_float(from[k]);
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

void stretch_from_fp16(const std::uint16_t* from, float* to, std::size_t count) {
  std::size_t i = 0;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) i = back_by_instruction(from, to, count);
#endif
  for (; i < count; ++i) to[i] = half_to_float(from[i]);
}

void stretch_to_bf16(const float* from, std::uint16_t* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = float_to_bf16(from[i]);
}
void stretch_from_bf16(const std::uint16_t* from, float* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = bf16_to_float(from[i]);
}

template <class From, class To>
void spread(void (*stretch)(const From*, To*, std::size_t), const From* from, To* to, std::size_t count) {
  const auto all = static_cast<std::int64_t>(count);
  spread_stretches(all, 8, 6 * all,
                   [&](std::int64_t begin, std::int64_t end) { stretch(from + begin, to + begin, static_cast<std::size_t>(end - begin)); });
}

}  // namespace

void floats_to_fp16(const float* from, std::uint16_t* to, std::size_t count) { spread(stretch_to_fp16, from, to, count); }
void floats_to_bf16(const float* from, std::uint16_t* to, std::size_t count) { spread(stretch_to_bf16, from, to, count); }
void fp16_to_floats(const std::uint16_t* from, float* to, std::size_t count) { spread(stretch_from_fp16, from, to, count); }
void bf16_to_floats(const std::uint16_t* from, float* to, std::size_t count) { spread(stretch_from_bf16, from, to, count); }

}  // namespace tenfold
