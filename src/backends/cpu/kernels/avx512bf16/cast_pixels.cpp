// Sixteen pixels at a time: red and green in one register, blue in another, and 48 results picked from both.
#include "backends/cpu/kernels/region/cast_pixels.h"

#include <immintrin.h>

#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

struct Picks {
  alignas(64) std::uint16_t value[64];   // of [red, green][blue] in 16-bit elements
};
constexpr Picks kPicks = [] {
  Picks picks{};
  for (std::uint16_t i = 0; i < 48; ++i) picks.value[i] = static_cast<std::uint16_t>((i % 3 == 2 ? 32 : i % 3 * 16) + i / 3);
  return picks;
}();

void cast_pixels(const float* from, std::int64_t plane, std::int64_t pixels, std::uint16_t* to) {
  const __m512i first = _mm512_load_si512(kPicks.value), second = _mm512_load_si512(kPicks.value + 32);
  for (; pixels > 0; pixels -= 16, from += 16, to += 48) {
    const auto lanes = static_cast<__mmask16>(pixels >= 16 ? 0xffffu : (1u << pixels) - 1);
    const __m512 red = _mm512_maskz_loadu_ps(lanes, from), green = _mm512_maskz_loadu_ps(lanes, from + plane);
    const __m512i two = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(green, red));
    const __m512 third = _mm512_maskz_loadu_ps(lanes, from + 2 * plane);
    const __m512i blue = _mm512_castsi256_si512(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(third)));
    const std::uint64_t values = pixels >= 16 ? (std::uint64_t{1} << 48) - 1 : (std::uint64_t{1} << (3 * pixels)) - 1;
    _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(values), _mm512_permutex2var_epi16(two, first, blue));
    _mm512_mask_storeu_epi16(to + 32, static_cast<__mmask32>(values >> 32), _mm512_permutex2var_epi16(two, second, blue));
  }
}

}  // namespace

extern "C" const CastPixels TENFOLD_TABLE(cast_pixels) = cast_pixels;

}  // namespace tenfold::backends::cpu
