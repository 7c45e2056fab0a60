// Few rows in two bytes times weights of 4 and 8 bits: AVX512_VNNI adds four products of bytes up at once.
#include <utility>

#include "backends/cpu/kernels/gemm/block_scaled_weights.h"
#include "backends/cpu/kernels/gemm/tile_f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

constexpr float kLargest = 32512;   // 127 * 256: so that the upper byte does not overflow
constexpr float kMin = 1e-30f, kMax = 1e30f;
constexpr int kE2m1Zero = 12;  // e2m1 as bytes: twice the value, which is an integer, and the largest of them

// The largest absolute value; false: there are values that are no ordinary numbers.
TENFOLD_INLINE bool largest_of(const float* row, std::int64_t count, float* max) {
  vf most = zero();
  vmask ordinary = 0xffff;
  for (std::int64_t i = 0; i < count; i += 16) {
    const vf v = abs(load_n(row + i, count - i < 16 ? count - i : 16));
    ordinary = static_cast<vmask>(ordinary & compare<_CMP_LT_OQ>(v, set1(kMax)));
    most = simd::max(most, v);
  }
  *max = max_lane(most);
  return ordinary == 0xffff && (*max == 0 || *max > kMin);
}

bool split(const float* row, std::int64_t k, std::int64_t block, const BlockScaledRow& to) {
  std::int32_t* parts = to.parts;
  for (std::int64_t begin = 0, b = 0; begin < k; begin += block, ++b) {
    const std::int64_t count = block < k - begin ? block : k - begin;
    float max;
    if (!largest_of(row + begin, count, &max)) return false;
    const vf factor = set1(max > 0 ? kLargest / max : 0.f);
    to.scale[b] = max / kLargest;
    vi high_sum = set1i(0), low_sum = set1i(0);
    for (std::int64_t i = 0; i < count; i += 16, parts += 8) {
      const vi value = to_int(mul(load_n(row + begin + i, count - i < 16 ? count - i : 16), factor));
      const vi high = shift_right<8>(addi(value, set1i(128))), low = subi(value, shift_left<8>(high));
      high_sum = addi(high_sum, high), low_sum = addi(low_sum, low);
      const __m128i upper = _mm512_cvtepi32_epi8(high), lower = _mm512_cvtepi32_epi8(low);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(parts), _mm_unpacklo_epi32(upper, lower));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(parts) + 1, _mm_unpackhi_epi32(upper, lower));
    }
    to.sums[2 * b] = _mm512_reduce_add_epi32(high_sum), to.sums[2 * b + 1] = _mm512_reduce_add_epi32(low_sum);
  }
  return true;
}

template <int kBits, BlockScaledValues kValues>
TENFOLD_INLINE vi zeros_of(const BlockScaledPanel& p, std::int64_t block) {
  if constexpr (kValues == kE2m1) return set1i(kE2m1Zero);
  if constexpr (kValues == kOneZero) return set1i(static_cast<int>(p.zero));
  if constexpr (kBits == 8) return widen_u8(p.zeros + block * 16);
  const __m128i both = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p.zeros + block * 8)), low = _mm_set1_epi8(15);
  return _mm512_cvtepu8_epi32(_mm_unpacklo_epi64(_mm_and_si128(both, low), _mm_and_si128(_mm_srli_epi16(both, 4), low)));
}

// Four neighbors of K of each column as bytes.
template <int kBits, BlockScaledValues kValues>
TENFOLD_INLINE vi bytes_of(vi words, int quarter) {
  if constexpr (kBits == 8) return words;
  const vi low = _mm512_set1_epi8(15), four = andi(quarter ? _mm512_srli_epi32(words, 4) : words, low);
  if constexpr (kValues != kE2m1) return four;
  return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0)), four);
}

template <int kBits, BlockScaledValues kValues, int kRows>
void product(const BlockScaledPanel& p, const BlockScaledRow* rows, const GemmF32Tile& t) {
  constexpr int kQuads = kWord<kBits> / 4;   // of a word
  vf total[kRows][1];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) total[r][0] = zero();
  const std::uint32_t* words = p.words;
  std::int64_t at = 0, block = 0;   // parts of the rows
  for (std::int64_t begin = 0; begin < p.k; begin += p.block, ++block) {
    const std::int64_t count = p.block < p.k - begin ? p.block : p.k - begin;
    vi sum[kRows][2];
    const vi zeros = zeros_of<kBits, kValues>(p, block);
#pragma GCC unroll 8
    for (int i = 0; i < 2 * kRows; ++i)
      sum[i / 2][i % 2] = subi(set1i(0), _mm512_mullo_epi32(zeros, set1i(rows[i / 2].sums[2 * block + i % 2])));
    const std::int32_t* x[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) x[r] = rows[r].parts + at;
    for (std::int64_t i = 0; i < count; i += kWord<kBits>, words += kBlockScaledPanel) {
      fetch(words);
      const vi w = words_at(words, 0);
#pragma GCC unroll 2
      for (int q = 0; q < kQuads; ++q) {
        const vi bytes = bytes_of<kBits, kValues>(w, q);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          sum[r][0] = _mm512_dpbusd_epi32(sum[r][0], bytes, set1i(x[r][0]));
          sum[r][1] = _mm512_dpbusd_epi32(sum[r][1], bytes, set1i(x[r][1]));
          x[r] += 2;
        }
      }
    }
    at += (count + 15) / 16 * 8;
    const vf scale = scale_of(p, block, 0);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const vf whole = fma(to_float(sum[r][0]), set1(256.f), to_float(sum[r][1]));
      const float unit = kValues == kE2m1 ? 0.5f * rows[r].scale[block] : rows[r].scale[block];
      total[r][0] = fma(mul(whole, set1(unit)), scale, total[r][0]);
    }
  }
  store_sums(total, t);
}

}  // namespace

#define ALL_ROWS(bits, values) \
  { product<bits, values, 1>, product<bits, values, 2>, product<bits, values, 3>, product<bits, values, 4> }
extern "C" const BlockScaledBytesKernels TENFOLD_TABLE(block_scaled_bytes) = {
    split, {{ALL_ROWS(4, kOneZero), ALL_ROWS(4, kZeroOfBlock), ALL_ROWS(4, kE2m1)}, {ALL_ROWS(8, kOneZero), ALL_ROWS(8, kZeroOfBlock)}}};
#undef ALL_ROWS

}  // namespace tenfold::backends::cpu
