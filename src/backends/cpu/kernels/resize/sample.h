// Kernels of GridSample: what linear sampling reads of a plane, and sums of elements that lie anywhere in one.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

constexpr int kSampleBlock = 32;   // places whose taps are worked out at once: a whole number of vectors of any width

constexpr int kSampleDims = 3;
constexpr std::int64_t kSampleExtent = 1 << 22;   // floats name the places of so many elements and those beside them

// What places are of: dims outermost first, none longer than kSampleExtent.
struct SampleGrid {
  int dims = 0;
  std::int64_t extents[kSampleDims] = {};
  bool corners = false, border = false;   // as ops::Sampling has them; what lies outside counts as zero, unless it is brought to the border
};

struct SampleKernels {
  // Of `count` places (`dims` floats each, innermost dim first), at most kSampleBlock, for each of the 2^dims taps of linear sampling:
  // offset[t * kSampleBlock + i], weight[t * kSampleBlock + i], as ops::taps_at() has them along each dim.
  void (*linear)(const SampleGrid& grid, const float* places, std::int64_t count, std::int32_t* offset, float* weight);
  // to[i] = the sum over taps of weight[t * kSampleBlock + i] * from[offset[t * kSampleBlock + i]] for i < count, up to kSampleBlock. What
  // has no weight is not added, NaN or not; offsets and weights are there for the whole block.
  void (*sample)(const float* from, const std::int32_t* offset, const float* weight, int taps, std::int64_t count, float* to);
};

extern "C" {
extern const SampleKernels tenfold_sample_avx2, tenfold_sample_avx512;
}

}  // namespace tenfold::backends::cpu
