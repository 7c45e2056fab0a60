// Kernels of rotary position embeddings.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

struct RotaryKernels {
  // y[0, 2 * half) of x[0, 2 * half): pairs are (i, half + i), or (2 * i, 2 * i + 1) where they are interleaved. y may be x.
  void (*turn)(float* y, const float* x, const float* cosines, const float* sines, std::int64_t half);
  void (*turn_interleaved)(float* y, const float* x, const float* cosines, const float* sines, std::int64_t half);
};

extern "C" {
extern const RotaryKernels tenfold_rotary_avx2, tenfold_rotary_avx512;
}

}  // namespace tenfold::backends::cpu
