// A row of f32 values as fixed point: integers of a unit that its largest value decides.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace tenfold::backends::cpu {
namespace {

class FixedRow {
 public:
  // Integers of at most `max_level` in size, and one more by rounding. `balance` multiplies each value before.
  FixedRow(const float* row, const float* balance, std::int64_t k, int max_level) : row_(row), balance_(balance), k_(k) {
    const __m512i size = _mm512_set1_epi32(0x7fffffff);
    __m512i largest[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    for_each_two([&](std::int64_t, __m512 first, __m512 second) {
      largest[0] = _mm512_max_epi32(largest[0], _mm512_and_si512(_mm512_castps_si512(first), size));
      largest[1] = _mm512_max_epi32(largest[1], _mm512_and_si512(_mm512_castps_si512(second), size));
    });
    const int bits = _mm512_reduce_max_epi32(_mm512_max_epi32(largest[0], largest[1])), exponent = bits >> 23;
    ordinary_ = bits == 0 || (exponent >= kMin && exponent < 255);
    const float size_of_largest = ordinary_ && bits != 0 ? _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(bits))) : 1;
    scale_ = static_cast<float>(max_level) / size_of_largest, unit_ = size_of_largest / static_cast<float>(max_level);
  }
  bool ordinary() const { return ordinary_; }
  float scale() const { return scale_; }   // an integer is value * scale, and a value integer * unit
  float unit() const { return unit_; }
  // f(i, values i to i + 15, i + 16 to i + 31), zeros behind the row.
  template <class F>
  inline __attribute__((always_inline)) void for_each_two(F&& f) const {
    std::int64_t i = 0;
    for (; i + 32 <= k_; i += 32)
      f(i, _mm512_mul_ps(_mm512_loadu_ps(row_ + i), _mm512_loadu_ps(balance_ + i)),
        _mm512_mul_ps(_mm512_loadu_ps(row_ + i + 16), _mm512_loadu_ps(balance_ + i + 16)));
    if (i == k_) return;
    const std::uint32_t lanes = (1u << (k_ - i)) - 1;
    const __mmask16 low = static_cast<__mmask16>(lanes), high = static_cast<__mmask16>(lanes >> 16);
    f(i, _mm512_mul_ps(_mm512_maskz_loadu_ps(low, row_ + i), _mm512_maskz_loadu_ps(low, balance_ + i)),
      _mm512_mul_ps(_mm512_maskz_loadu_ps(high, row_ + i + 16), _mm512_maskz_loadu_ps(high, balance_ + i + 16)));
  }

 private:
  static constexpr int kMin = 40;   // the exponent of rows whose unit and scale are ordinary numbers
  const float *row_, *balance_;
  std::int64_t k_;
  float scale_, unit_;
  bool ordinary_;
};

}  // namespace
}  // namespace tenfold::backends::cpu
