// Convolution of few filters, vectors along the positions: the input lies in planes, one for each channel and phase of the strides, so
// that a tap is one distance for all positions. Positions are counted on over the ends of lines: what lies between is not used.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

struct PlanesF32 {
  const std::int64_t* taps = nullptr;  // [steps]: floats from a position to the channel and tap of a step
  const float* weights = nullptr;      // [steps][filters]
  std::int64_t steps = 0;
  const float* bias = nullptr;         // [filters]; null: none
  float low = 0, high = 0;             // results are clamped to this; NaN stays NaN
  bool clamp = false;
  std::int64_t pitch = 0;              // floats from the results of one filter to those of the next
};

inline constexpr int kPlanesMaxFilters = 4;
struct PlanesF32Kernels {
  int lanes = 0;
  // [filters - 1]: results of positions [0, positions), both sides with room for whole vectors.
  void (*run[kPlanesMaxFilters])(const PlanesF32& p, const float* x, float* y, std::int64_t positions) = {};
};
extern "C" const PlanesF32Kernels tenfold_planes_f32_avx2, tenfold_planes_f32_avx512;

}  // namespace tenfold::backends::cpu
