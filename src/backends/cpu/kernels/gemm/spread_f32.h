// Products of so few values that a vector of results spans several rows: the inputs of those rows, one vector, are spread over its lanes.
//
// Results of all rows are one stretch of memory without gaps; what depends on the column recurs with the period of a row.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

struct SpreadF32 {
  // All with the columns of a row and once more, from the first on, those that a vector beginning in it reaches: [columns + lanes].
  const std::int32_t* first = nullptr;  // of the column's inputs, from the inputs of the row in which the vector begins
  const float* weights = nullptr;       // [depth]: of the column's first input, second ...
  const float* bias = nullptr;          // null: none
  const float* residual = nullptr;      // as large as all results, added to them; null: none
  std::int64_t columns = 0, depth = 0;  // of a row of results; inputs of one result
  std::int64_t step = 0;                // floats from the inputs of a row to those of the next
  float low = 0, high = 0;              // results are clamped to this; NaN stays NaN
  bool clamp = false;
};

struct SpreadF32Kernels {
  int lanes = 0;
  // Rows of results from y on, `residual` beginning there, too. Inputs are read up to `x_end`, beyond those of these rows.
  void (*run)(const SpreadF32& s, const float* x, const float* x_end, float* y, std::int64_t rows) = nullptr;
};
extern "C" const SpreadF32Kernels tenfold_spread_f32_avx2, tenfold_spread_f32_avx512;

}  // namespace tenfold::backends::cpu
