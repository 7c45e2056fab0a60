// Transforms of Winograd's convolutions with kernels 3 wide: a patch of input positions to as many values, the products' sums to a
// tile of results. Vectors lie along the channels.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/gemm/gemm_f32.h"

namespace tenfold::backends::cpu {

// Results of a tile from positions of a patch: 2x2 from 4x4, 4x4 from 6x6, 2x2x2 from 4x4x4.
enum WinogradForm : int { kWinograd2x2, kWinograd4x4, kWinograd2x2x2, kWinogradForms };
inline constexpr int kWinogradMaxPositions = 64, kWinogradMaxResults = 16;

struct WinogradOutput {
  const float* sums = nullptr;  // of the first matrix
  std::int64_t step = 0;        // elements from one matrix to the next
  std::int64_t channels = 0;
  float* to[kWinogradMaxResults] = {};  // of the tile in row order; null: outside the result
  const float* residual[kWinogradMaxResults] = {};
  const GemmF32EpilogueArgs* epilogue = nullptr;  // bias and clamp; its residual is not used
};

struct WinogradF32Transforms {
  // positions of the patch in row order; value i of every channel goes to values + i * step.
  void (*input)(const float* const* positions, std::int64_t channels, float* values, std::int64_t step) = nullptr;
  void (*output)(const WinogradOutput&) = nullptr;
};
struct WinogradF32Kernels {
  WinogradF32Transforms form[kWinogradForms];
};
extern "C" const WinogradF32Kernels tenfold_winograd_f32_avx2, tenfold_winograd_f32_avx512;

}  // namespace tenfold::backends::cpu
