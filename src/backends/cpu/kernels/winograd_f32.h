// Transforms of Winograd's F(2x2, 3x3): 4x4 input positions to 16 values and 16 sums to 2x2 results, vectors along the channels.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/gemm_f32.h"

namespace tenfold::backends::cpu {

struct WinogradOutput {
  const float* sums = nullptr;  // of the first of the 16 matrices
  std::int64_t step = 0;        // elements from one matrix to the next
  std::int64_t channels = 0;
  float* to[4] = {};  // rows of positions (0,0) (0,1) (1,0) (1,1); null: outside the result
  const float* residual[4] = {};
  const GemmF32Finish* finish = nullptr;  // bias and clamp; its residual is not used
};

struct WinogradF32Kernels {
  // positions[16] in row order; value i of every channel goes to values + i * step.
  void (*input)(const float* const* positions, std::int64_t channels, float* values, std::int64_t step) = nullptr;
  void (*output)(const WinogradOutput&) = nullptr;
};
extern "C" const WinogradF32Kernels tenfold_winograd_f32_avx2, tenfold_winograd_f32_avx512;

}  // namespace tenfold::backends::cpu
