// The epilogue of a row of 32-bit sums that becomes bytes, as Int8EpilogueArgs has it, for sums in tiles: same bits as its common kernel's.
#pragma once

#include <immintrin.h>

#include "backends/cpu/kernels/int8/int8.h"

namespace tenfold::backends::cpu {
namespace {

// What is known of the bytes of a residual; `counts`: unsigned, with a zero point of 0.
enum class ResidualBytes { none, counts, any };

// Whether results are unsigned with a zero point of 0 and bounds that such bytes have anyway.
inline bool int8_plain_bytes(const Int8EpilogueArgs& f) {
  const Int8Range& clamp = f.result.clamp;
  return f.result.type == Int8Type::u8 && f.result.zero == 0 && (clamp.low > clamp.high || (clamp.low <= 0 && clamp.high >= 255));
}

// kPlain: int8_plain_bytes(). Where each row asked for that, epilogues would be bound by branches and by the masks that GCC keeps flags in.
template <ResidualBytes kBytes, bool kMiddle, bool kPlain>
class Int8BytesEpilogue {
 public:
  static constexpr bool kResidual = kBytes != ResidualBytes::none;
  explicit Int8BytesEpilogue(const Int8EpilogueArgs& f)
      : out_signed_(f.result.type == Int8Type::i8), residual_signed_(f.residual.type == Int8Type::i8) {
    const float bottom = (out_signed_ ? -128.0f : 0.0f) - f.result.zero, top = bottom + 255;
    const bool clamps = f.result.clamp.low <= f.result.clamp.high;
    float upper = clamps && f.result.clamp.high < top ? f.result.clamp.high : top;
    float lower = clamps && f.result.clamp.low > bottom ? f.result.clamp.low : bottom;
    upper = upper < bottom ? bottom : upper;
    lower = lower > upper ? upper : lower;
    clamps_ = lower > bottom || upper < top;
    // Rounding keeps order: whole numbers are clamped to the rounded bounds.
    lower_ = _mm512_set1_epi16(static_cast<short>(__builtin_nearbyintf(lower)));
    upper_ = _mm512_set1_epi16(static_cast<short>(__builtin_nearbyintf(upper)));
    moved_ = f.result.zero != 0;
    zero_ = _mm512_set1_epi16(static_cast<short>(f.result.zero));
    middle_low_ = _mm512_set1_ps(f.middle.low), middle_high_ = _mm512_set1_ps(f.middle.high);
    middle_scale_ = _mm512_set1_ps(f.middle_scale);
    residual_scale_ = _mm512_set1_ps(f.residual.scale);
    // A byte in the last bits of 2^23 is a float of that much more, exactly.
    residual_start_ = _mm512_set1_ps((kBytes == ResidualBytes::counts ? -8388608.0f : -f.residual.zero) * f.residual.scale);
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (int i = 0; i < 4; ++i) part_[i] = _mm512_add_epi32(lanes, _mm512_set1_epi32(16 * i));
  }

  // Rows begin at `column`, and have so many vectors of 16.
  __attribute__((always_inline)) inline void columns(const Int8EpilogueArgs& f, std::int64_t column, int vectors) {
    for (int i = 0; i < 2; ++i) {
      scale_[i] = _mm512_loadu_ps(f.scale + column + 16 * i), bias_[i] = _mm512_loadu_ps(f.bias + column + 16 * i);
      if (vectors == 4) {
        scale_[i + 2] = _mm512_loadu_ps(f.scale + column + 32 + 16 * i);
        bias_[i + 2] = _mm512_loadu_ps(f.bias + column + 32 + 16 * i);
      }
    }
  }

  // sums(i): 16 of them.
  template <int kVectors, class Sums>
  __attribute__((always_inline)) inline void row(const Sums& sums, const char* residual, char* out) const {
    __m512i y[4], all = {};
    if constexpr (kBytes == ResidualBytes::counts)
      all = kVectors == 4 ? _mm512_loadu_si512(residual)
                          : _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(residual)));
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) y[i] = _mm512_cvtps_epi32(value(sums(i), i, residual, all));
    const __m512i first = words(y[0], y[1]), last = kVectors == 4 ? words(y[2], y[3]) : first;
    const __m512i bytes = !kPlain && out_signed_ ? _mm512_packs_epi16(first, last) : _mm512_packus_epi16(first, last);
    // Each quarter holds four columns of each vector.
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i result = _mm512_permutexvar_epi32(order, bytes);
    if constexpr (kVectors == 4)
      _mm512_storeu_si512(out, result);
    else
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_castsi512_si256(result));
  }

 private:
  __attribute__((always_inline)) inline __m512 value(const std::int32_t* sums, int i, const char* residual, __m512i all) const {
    __m512 y = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_load_si512(sums)), scale_[i], bias_[i]);
    if constexpr (kMiddle) {
      // Between whole bounds of a few hundred a sum with 1.5 * 2^23 rounds as the instruction does, which takes longer.
      const __m512 magic = _mm512_set1_ps(12582912.0f);
      y = _mm512_min_ps(_mm512_max_ps(y, middle_low_), middle_high_);
      y = _mm512_sub_ps(_mm512_add_ps(y, magic), magic);
    }
    if constexpr (kResidual) {
      const __m512 other = _mm512_fmadd_ps(residual_value(i, residual, all), residual_scale_, residual_start_);
      y = kMiddle ? _mm512_fmadd_ps(y, middle_scale_, other) : _mm512_add_ps(y, other);
    }
    return y;
  }
  __attribute__((always_inline)) inline __m512 residual_value(int i, const char* residual, __m512i all) const {
    if constexpr (kBytes == ResidualBytes::counts) {
      const __m512i power = _mm512_set1_epi32(0x4b000000);   // 2^23
      return _mm512_castsi512_ps(_mm512_mask_permutexvar_epi8(power, 0x1111'1111'1111'1111, part_[i], all));
    }
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(residual + 16 * i));
    return _mm512_cvtepi32_ps(residual_signed_ ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes));
  }
  __attribute__((always_inline)) inline __m512i words(__m512i a, __m512i b) const {
    __m512i w = _mm512_packs_epi32(a, b);
    if constexpr (kPlain) return w;
    if (clamps_) w = _mm512_min_epi16(_mm512_max_epi16(w, lower_), upper_);
    return moved_ ? _mm512_adds_epi16(w, zero_) : w;
  }

  __m512 scale_[4] = {}, bias_[4] = {}, middle_low_, middle_high_, middle_scale_, residual_scale_, residual_start_;
  __m512i lower_, upper_, zero_, part_[4];
  bool clamps_, moved_, out_signed_, residual_signed_;
};

}  // namespace
}  // namespace tenfold::backends::cpu
