// The loops of resampling, once for each instruction set; what they give is the same bits on all.
#pragma once

#include <cstdint>

namespace tenfold::windows {

// Rows of all channels, of which each voxel is first * (1 - weight) + second * weight.
struct MixedRows {
  const float* first;
  const float* second;               // the same pointer: that row as it is
  float weight;
  std::int64_t channels, stride, count;   // `stride`: floats between channels
};

struct ResampleKernels {
  // to[i] = from[first[i]] * (1 - weight[i]) + from[second[i]] * weight[i]
  void (*gather)(const float* from, const std::int32_t* first, const std::int32_t* second, const float* weight,
                 float* to, std::int64_t count);
  void (*mix)(const float* first, const float* second, float weight, float* to, std::int64_t count);
  // The channel of the largest value, the first of equal ones; NaN is larger than all. The mixed rows are in no memory.
  void (*argmax_u8)(const MixedRows& rows, std::uint8_t* labels);
  void (*argmax_u16)(const MixedRows& rows, std::uint16_t* labels);
};

const ResampleKernels& resample_kernels();   // of this processor

}  // namespace tenfold::windows
