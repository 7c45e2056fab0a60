// Depthwise convolution of a plane, vectors along the columns: sums of four rows of results at a time, so that what is read of a row of the
// plane serves all of them. Rows of windows lie one row of the plane apart.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

struct PlanesRowsF32 {
  const std::int64_t* taps = nullptr;  // [wide]: floats from a result's column to each tap in a row of its window
  const float* weights = nullptr;      // [tall][wide]
  std::int64_t wide = 0;
  float bias = 0, low = 0, high = 0;   // results are clamped to [low, high]; NaN stays NaN
  bool clamp = false;
  std::int64_t pitch = 0, y_pitch = 0; // floats from one row of the plane, of the results to the next
};

inline constexpr int kPlanesRows = 4, kPlanesTalls = 3;   // rows at a time; windows 3, 5 and 7 rows tall
struct PlanesRowsF32Kernels {
  // [(tall - 3) / 2]: `rows` (at least kPlanesRows) x `columns` results, both sides with room for whole vectors in each row.
  void (*run[kPlanesTalls])(const PlanesRowsF32& p, const float* x, float* y, std::int64_t rows, std::int64_t columns) = {};
};
extern "C" const PlanesRowsF32Kernels tenfold_planes_rows_f32_avx2, tenfold_planes_rows_f32_avx512;

}  // namespace tenfold::backends::cpu
