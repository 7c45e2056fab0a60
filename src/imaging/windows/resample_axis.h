// Where the voxels of one axis lie between those of another, whose ends are the same.
#pragma once

#include <cstdint>
#include <vector>

#include "tenfold/sliding_window.h"

namespace tenfold::windows {

// Voxel i is from[first[i]] * (1 - weight[i]) + from[second[i]] * weight[i]; both ascend.
struct ResampleAxis {
  std::int64_t from = 1;
  std::vector<std::int32_t> first, second;
  std::vector<float> weight;
  bool copies = false;               // all weights are 0

  std::int64_t extent() const { return static_cast<std::int64_t>(first.size()); }
  // What the voxels [begin, end) need: counted from the first of it. They become 0 to end - begin.
  struct Range { std::int64_t begin, end; };
  Range needs(std::int64_t begin, std::int64_t end) const;
  ResampleAxis part(std::int64_t begin, std::int64_t end) const;
};

// Centers of voxels on centers, as torch.nn.functional.interpolate with align_corners=False; nearest: its
// nearest-exact.
ResampleAxis resample_axis(std::int64_t from, std::int64_t to, GridInterpolation interpolation);

// Two to four axes as four, with ones of extent 1 between planes and the others. An image of two axes has planes of one row.
std::vector<ResampleAxis> four_resample_axes(std::vector<ResampleAxis> axes);
// How many planes of results need no source plane beyond `z`, of which there are `done`.
std::int64_t ready_planes(const ResampleAxis& planes, std::int64_t done, std::int64_t z);

}  // namespace tenfold::windows
