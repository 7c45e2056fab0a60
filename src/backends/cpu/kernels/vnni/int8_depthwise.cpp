// Depthwise int8 convolution of 3x3 kernels along a line: the three bytes of a column of the window lie together in a lane, so that
// vpdpbusd takes a column at once, and each column is put together once for all windows it lies in.
#include <immintrin.h>

#include "backends/cpu/kernels/int8_depthwise.h"

namespace tenfold::backends::cpu {
namespace {

#define INLINE __attribute__((always_inline)) inline
constexpr int kBlock = kInt8LineBlock, kVectors = 4;

struct Columns {
  const Int8DepthwiseLine& line;
  std::int64_t channel;
  __mmask32 mask;  // channels that exist
  __m256i flip;    // makes signed values unsigned

  // Of the input at `position`: vector v holds channels [4 v, 4 v + 4) and 16 more of a block.
  INLINE void load(std::int64_t position, __m256i (&q)[kVectors]) const {
    const bool outside = position < line.first || position >= line.last;
    const auto bytes = [&](int i) __attribute__((always_inline)) {
      const char* from = outside ? line.border : line.lines[i] + position * line.steps[i];
      return _mm256_xor_si256(_mm256_maskz_loadu_epi8(mask, from + channel), flip);
    };
    const __m256i zero = _mm256_setzero_si256(), r0 = bytes(0), r1 = bytes(1), r2 = bytes(2);
    const __m256i a = _mm256_unpacklo_epi8(r0, r1), b = _mm256_unpackhi_epi8(r0, r1);
    const __m256i c = _mm256_unpacklo_epi8(r2, zero), d = _mm256_unpackhi_epi8(r2, zero);
    q[0] = _mm256_unpacklo_epi16(a, c), q[1] = _mm256_unpackhi_epi16(a, c);
    q[2] = _mm256_unpacklo_epi16(b, d), q[3] = _mm256_unpackhi_epi16(b, d);
  }
};

INLINE void store(std::int32_t* to, const std::int32_t* start, __m256i v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_add_epi32(v, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(start))));
}

template <int kStride>
INLINE void block(const Int8DepthwiseLine& line, std::int64_t channel, std::int64_t count, std::int32_t* acc, std::int64_t acc_stride) {
  const std::int64_t left = line.channels - channel;
  const Columns columns{line, channel, left >= kBlock ? ~__mmask32{0} : (__mmask32{1} << left) - 1,
                        _mm256_set1_epi8(line.is_signed ? static_cast<char>(0x80) : 0)};
  const auto* weights = reinterpret_cast<const __m256i*>(line.weights + channel * kInt8LineBytes);
  __m256i w[3][kVectors], q[3][kVectors];
#pragma GCC unroll 12
  for (int i = 0; i < 3 * kVectors; ++i) w[i / kVectors][i % kVectors] = _mm256_loadu_si256(weights + i);
#pragma GCC unroll 2
  for (int i = 0; i < 3 - kStride; ++i) columns.load(i, q[i + kStride]);
  std::int64_t position = 3 - kStride;
  for (std::int64_t p = 0; p < count; ++p, acc += acc_stride) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      q[0][v] = q[kStride][v];
      if (kStride == 1) q[1][v] = q[2][v];
    }
#pragma GCC unroll 2
    for (int i = 3 - kStride; i < 3; ++i) columns.load(position++, q[i]);
    __m256i sum[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sum[v] = _mm256_dpbusd_epi32(_mm256_setzero_si256(), q[0][v], w[0][v]);
      sum[v] = _mm256_dpbusd_epi32(sum[v], q[1][v], w[1][v]);
      sum[v] = _mm256_dpbusd_epi32(sum[v], q[2][v], w[2][v]);
    }
    const std::int32_t* start = line.start + channel;
    store(acc + channel, start, _mm256_permute2x128_si256(sum[0], sum[1], 0x20));
    store(acc + channel + 8, start + 8, _mm256_permute2x128_si256(sum[2], sum[3], 0x20));
    store(acc + channel + 16, start + 16, _mm256_permute2x128_si256(sum[0], sum[1], 0x31));
    store(acc + channel + 24, start + 24, _mm256_permute2x128_si256(sum[2], sum[3], 0x31));
  }
}

void run(const Int8DepthwiseLine& line, std::int64_t count, std::int64_t stride, std::int32_t* acc, std::int64_t acc_stride) {
  for (std::int64_t channel = 0; channel < line.channels; channel += kBlock) {
    if (stride == 1)
      block<1>(line, channel, count, acc, acc_stride);
    else
      block<2>(line, channel, count, acc, acc_stride);
  }
}

}  // namespace

extern "C" const Int8DepthwiseLineFunction TENFOLD_TABLE(int8_depthwise_line) = run;

}  // namespace tenfold::backends::cpu
