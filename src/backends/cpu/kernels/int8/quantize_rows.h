// A row of floats to bytes around 128, and what one of them is worth.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

// to[i] = 128 + x[i] * 127 / (largest magnitude), rounded half to even. Gives the largest magnitude by 127; NaN if anything is not finite.
using QuantizeRow = float (*)(const float* x, std::int64_t n, std::uint8_t* to);

extern "C" {
extern const QuantizeRow tenfold_quantize_row_avx2, tenfold_quantize_row_avx512;
}

}  // namespace tenfold::backends::cpu
