// The inner loop of depthwise int8 convolutions.
#include "backends/cpu/kernels/int8/int8_depthwise.h"

#include <immintrin.h>

namespace tenfold::backends::cpu {
namespace {

#ifdef TENFOLD_ISA_avx512
using Vec = __m512i;
constexpr int kBlock = 32;
template <bool Signed>
inline Vec widen(const char* p) {
  const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return Signed ? _mm512_cvtepi8_epi16(v) : _mm512_cvtepu8_epi16(v);
}
inline Vec load(const void* p) { return _mm512_loadu_si512(p); }
inline Vec low(Vec a, Vec b) { return _mm512_unpacklo_epi16(a, b); }
inline Vec high(Vec a, Vec b) { return _mm512_unpackhi_epi16(a, b); }
inline Vec mac(Vec acc, Vec a, Vec b) { return _mm512_add_epi32(acc, _mm512_madd_epi16(a, b)); }
template <int Lane>
inline void store_lane(std::int32_t* to, Vec v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_extracti32x4_epi32(v, Lane)); }
#else
using Vec = __m256i;
constexpr int kBlock = 16;
template <bool Signed>
inline Vec widen(const char* p) {
  const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return Signed ? _mm256_cvtepi8_epi16(v) : _mm256_cvtepu8_epi16(v);
}
inline Vec load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
inline Vec low(Vec a, Vec b) { return _mm256_unpacklo_epi16(a, b); }
inline Vec high(Vec a, Vec b) { return _mm256_unpackhi_epi16(a, b); }
inline Vec mac(Vec acc, Vec a, Vec b) { return _mm256_add_epi32(acc, _mm256_madd_epi16(a, b)); }
template <int Lane>
inline void store_lane(std::int32_t* to, Vec v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_extracti128_si256(v, Lane)); }
#endif

// Back to channel order: lane i of the first vector is followed by lane i of the second.
inline void store(std::int32_t* to, Vec first, Vec second) {
  store_lane<0>(to, first);
  store_lane<0>(to + 4, second);
  store_lane<1>(to + 8, first);
  store_lane<1>(to + 12, second);
#ifdef TENFOLD_ISA_avx512
  store_lane<2>(to + 16, first);
  store_lane<2>(to + 20, second);
  store_lane<3>(to + 24, first);
  store_lane<3>(to + 28, second);
#endif
}

template <bool Signed, int Pixels>
void pixels(const Int8Tap* taps, std::int64_t pairs, std::int64_t blocks, const std::int16_t* weights, const std::int32_t* start,
            std::int32_t* acc, std::int64_t acc_stride) {
  for (std::int64_t b = 0; b < blocks; ++b) {
    Vec first[Pixels], second[Pixels];
#pragma GCC unroll 4
    for (int p = 0; p < Pixels; ++p) {
      first[p] = load(start + b * kBlock);
      second[p] = load(start + b * kBlock + kBlock / 2);
    }
    for (std::int64_t t = 0; t < pairs; ++t) {
      const Int8Tap &tap0 = taps[2 * t], &tap1 = taps[2 * t + 1];
      const Vec w_first = load(weights), w_second = load(weights + kBlock);
#pragma GCC unroll 4
      for (int p = 0; p < Pixels; ++p) {
        const Vec x0 = widen<Signed>(tap0.data + p * tap0.step + b * kBlock), x1 = widen<Signed>(tap1.data + p * tap1.step + b * kBlock);
        first[p] = mac(first[p], low(x0, x1), w_first);
        second[p] = mac(second[p], high(x0, x1), w_second);
      }
      weights += 2 * kBlock;
    }
#pragma GCC unroll 4
    for (int p = 0; p < Pixels; ++p) store(acc + p * acc_stride + b * kBlock, first[p], second[p]);
  }
}

template <int Pixels>
void either(const Int8Tap* taps, std::int64_t pairs, std::int64_t blocks, const std::int16_t* weights, const std::int32_t* start,
            std::int32_t* acc, std::int64_t acc_stride, bool is_signed) {
  if (is_signed)
    pixels<true, Pixels>(taps, pairs, blocks, weights, start, acc, acc_stride);
  else
    pixels<false, Pixels>(taps, pairs, blocks, weights, start, acc, acc_stride);
}

}  // namespace

extern "C" const Int8DepthwiseKernels TENFOLD_TABLE(int8_depthwise) = {.block = kBlock, .pixels = 4, .many = either<4>, .one = either<1>};

}  // namespace tenfold::backends::cpu
