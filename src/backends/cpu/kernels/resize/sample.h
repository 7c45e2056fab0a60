// Kernels of GridSample: sums of elements that lie anywhere in a plane.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

constexpr int kSampleBlock = 32;   // places whose taps are worked out at once: a whole number of vectors of any width

struct SampleKernels {
  // to[i] = the sum over taps of weight[t * kSampleBlock + i] * from[offset[t * kSampleBlock + i]] for i < count, up to kSampleBlock. What
  // has no weight is not added, NaN or not; offsets and weights are there for the whole block.
  void (*sample)(const float* from, const std::int32_t* offset, const float* weight, int taps, std::int64_t count, float* to);
};

extern "C" {
extern const SampleKernels tenfold_sample_avx2, tenfold_sample_avx512;
}

}  // namespace tenfold::backends::cpu
