// The sums of a left factor's quarters that Strassen's product multiplies, in Winograd's form.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

// Of n elements of a row. q: quarters 11, 12, 21, 22. to[0] = 21 + 22, to[1] = to[0] - 11, to[2] = 11 - 21, to[3] = 12 - to[1].
using StrassenF32Sums = void (*)(const float* const (&q)[4], std::int64_t n, float* const (&to)[4]);

struct StrassenF32Kernels {
  StrassenF32Sums left = nullptr;
};

extern "C" const StrassenF32Kernels tenfold_strassen_f32_avx2, tenfold_strassen_f32_avx512;

}  // namespace tenfold::backends::cpu
