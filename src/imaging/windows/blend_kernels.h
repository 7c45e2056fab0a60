// The loops that touch every voxel of every window, once for each instruction set; what they give is the same bits on
// all.
#pragma once

#include <cstdint>
#include <span>

namespace tenfold::windows {

// A window that covers a stretch: its value and its weight of the stretch's first voxel.
struct BlendTerm {
  const float* values;
  const float* weights;   // null in all terms: one
};

// Voxels of a row that the same windows cover.
struct BlendStretch {
  std::int64_t begin, count;
  std::int64_t first_term, terms;   // in the order of the windows; one at least
  bool fresh;                       // nothing was added before: sums are overwritten
  bool last;                        // nothing is added later: sums become means
};

// Rows with the same stretches, of some channels. Strides are in floats.
struct BlendRows {
  float* sums;
  std::int64_t rows, sums_stride, values_stride;
  std::int64_t channels, sums_channel, values_channel;   // which share weights and divisors
  std::span<const BlendStretch> stretches;   // ascending, none overlaps another
  const BlendTerm* terms;
  // The sum of both divides where a stretch is the last: rows `sums_stride` apart. The second may be null.
  const float* divisors[2] = {nullptr, nullptr};
  // Of a row's length, where every voxel is the last: rows are finished there, and written past the caches. Else null.
  float* scratch = nullptr;
};

struct BlendKernels {
  void (*blend)(const BlendRows& rows);   // sums += values * weights; each product is rounded before it is added
  // to = sums / weights, also in place.
  void (*divide)(const float* sums, const float* weights, float* to, std::int64_t count);
  bool (*positive)(const float* values, std::int64_t count);   // all of them
};

const BlendKernels& blend_kernels();   // of this processor

}  // namespace tenfold::windows
