// The loops that touch every voxel of every window, once for each instruction set; what they give is the same bits on
// all.
#pragma once

#include <cstdint>

namespace tenfold::windows {

// Of `rows` rows of `count` floats. `strides` are between rows, in floats.
struct AddRows {
  float* sums;
  const float* values;
  const float* weights;   // null: one
  std::int64_t sums_stride, values_stride, rows, count;
  std::int64_t fresh;   // from here on in a row, nothing was added before: sums are overwritten. `count`: nowhere
};

struct BlendKernels {
  void (*add)(const AddRows& rows);   // sums += values * weights; the product is rounded before it is added
  // to = sums / weights, also in place. Gives the least weight.
  float (*divide)(const float* sums, const float* weights, float* to, std::int64_t count);
};

const BlendKernels& blend_kernels();   // of this processor

}  // namespace tenfold::windows
