// Rows to bytes: the largest magnitude first, then, while the row is in the nearest cache, its bytes.
#include "backends/cpu/kernels/int8/quantize_rows.h"

#include <limits>

#include "backends/cpu/simd/f32.h"
#include "backends/cpu/simd/isa.h"
#include "backends/cpu/simd/math.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;
using std::int64_t;

constexpr int kTogether = 4;   // vectors

// look(v, vector) for all of a row, v < kTogether in turn; what is left over comes with zeros behind it.
template <class Look>
TENFOLD_INLINE void each_vector(const float* x, int64_t n, Look look) {
  int64_t i = 0;
  for (; i + kTogether * kLanes <= n; i += kTogether * kLanes)
#pragma GCC unroll 4
    for (int v = 0; v < kTogether; ++v) look(v, load(x + i + v * kLanes));
  for (; i + kLanes <= n; i += kLanes) look(0, load(x + i));
  if (i < n) look(1, load_n(x + i, n - i));
}

// The largest magnitude, NaN if anything is infinite or NaN: such a value times zero is NaN, and stays it in a sum.
float magnitude(const float* x, int64_t n) {
  vf largest[kTogether], bad[kTogether];
  for (int v = 0; v < kTogether; ++v) largest[v] = bad[v] = zero();
  each_vector(x, n, [&](int v, vf value) __attribute__((always_inline)) {
    largest[v] = max(largest[v], abs(value));
    bad[v] = fma(value, zero(), bad[v]);
  });
  const vf all = max(max(largest[0], largest[1]), max(largest[2], largest[3])), no = add(add(bad[0], bad[1]), add(bad[2], bad[3]));
  return max_lane(all) + sum(no);
}

#ifdef __AVX512F__
constexpr int64_t kStep = 16;
template <bool kSigned>
TENFOLD_INLINE void store_bytes(std::uint8_t* to, const float* x, vf by) {
  const vi nearest = to_int(mul(load(x), by));
  narrow(to, kSigned ? nearest : addi(nearest, set1i(128)));
}
#else
constexpr int64_t kStep = 32;
template <bool kSigned>
TENFOLD_INLINE void store_bytes(std::uint8_t* to, const float* x, vf by) {
  const auto four = [&](int v) __attribute__((always_inline)) { return to_int(mul(load(x + v * kLanes), by)); };
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(four(0), four(1)), _mm256_packs_epi32(four(2), four(3)));
  const __m256i ordered = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  const __m256i zero_point = _mm256_set1_epi8(static_cast<char>(0x80));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), kSigned ? ordered : _mm256_xor_si256(ordered, zero_point));
}
#endif

template <bool kSigned>
float quantize_row(const float* x, int64_t n, std::uint8_t* to) {
  const float largest = magnitude(x, n);
  const vf by = set1(largest > 127 / std::numeric_limits<float>::max() ? 127 / largest : 0.0f);
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) store_bytes<kSigned>(to + i, x + i, by);
  if (i == n) return largest / 127;
  float last[kStep] = {};
  std::uint8_t bytes[kStep];
  for (int64_t j = i; j < n; ++j) last[j - i] = x[j];
  store_bytes<kSigned>(bytes, last, by);
  for (int64_t j = i; j < n; ++j) to[j] = bytes[j - i];
  return largest / 127;
}

Extent extent_of(const float* x, int64_t n) {
  vf low[kTogether], high[kTogether];
  for (int v = 0; v < kTogether; ++v) low[v] = high[v] = zero();
  each_vector(x, n, [&](int v, vf value) __attribute__((always_inline)) {
    low[v] = min(value, low[v]), high[v] = max(value, high[v]);   // what is not a number leaves them
  });
  const vf smallest = min(min(low[0], low[1]), min(low[2], low[3])), largest = max(max(high[0], high[1]), max(high[2], high[3]));
  return {-max_lane(sub(zero(), smallest)), max_lane(largest)};
}

}  // namespace

extern "C" constinit const ExtentOf TENFOLD_TABLE(extent_of) = extent_of;
extern "C" constinit const QuantizeRow TENFOLD_TABLE(quantize_row) = quantize_row<false>;
extern "C" constinit const QuantizeRow TENFOLD_TABLE(quantize_row_signed) = quantize_row<true>;

}  // namespace tenfold::backends::cpu
