// What quantizes floats by what they are: a row to bytes around 128 with what one of them is worth, and the extent of many.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

// to[i] = 128 + x[i] * 127 / (largest magnitude), rounded half to even; the signed form is without the 128. Gives the largest magnitude by
// 127; NaN if anything is not finite.
using QuantizeRow = float (*)(const float* x, std::int64_t n, std::uint8_t* to);

// The least and the largest element, and zero; of n elements that are numbers.
struct Extent { float low = 0, high = 0; };
using ExtentOf = Extent (*)(const float* x, std::int64_t n);

extern "C" {
extern const ExtentOf tenfold_extent_of_avx2, tenfold_extent_of_avx512;
extern const QuantizeRow tenfold_quantize_row_avx2, tenfold_quantize_row_avx512;
extern const QuantizeRow tenfold_quantize_row_signed_avx2, tenfold_quantize_row_signed_avx512;
}

}  // namespace tenfold::backends::cpu
