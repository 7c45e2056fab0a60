// Adds windows to a plane, row by row: all windows of a call that cover a row are added while it is in registers.
#pragma once

#include <cstddef>
#include <vector>

#include "windows/blend_kernels.h"
#include "windows/coverage.h"
#include "windows/divisors.h"
#include "windows/row_kernels.h"

namespace tenfold::windows {

// Predictions of some channels of the windows first to end - 1 of an image.
struct WindowValues {
  std::int64_t first, end;
  std::int64_t channels, channel_size;   // elements of one
  const std::byte* values;         // of the first window
  std::int64_t window_bytes;       // from one to the next
  std::int64_t element_bytes = sizeof(float);
  ConvertRow convert = nullptr;    // to f32, where they are not
  const float* weights = nullptr;  // null: one
};

// Windows by their number along some axes from the first on, in ascending order; `row` counts likewise in each of them.
struct Covering { std::int64_t window, row; };
using Coverings = std::vector<Covering>;

class PlaneBlender {
 public:
  explicit PlaneBlender(std::vector<OutputAxis> axes);

  struct Scratch {                 // of a thread
    Coverings plane, section, rows;
    std::vector<const float*> windows;
    std::vector<BlendStretch> stretches;
    std::vector<BlendTerm> terms;
    std::vector<float> values, finished;
  };
  struct Plane {                   // of as many channels
    float* sums;
    std::int64_t channel_stride;   // of sums
    Divisors* divisors;            // where no window after these touches a voxel, its sum becomes a mean; null: nowhere
    bool streams;                  // finished rows pass the caches by
  };
  // Those that cover the plane z.
  void find_plane(std::int64_t z, Coverings& plane) const { extend({{0, 0}}, 0, z, plane); }
  // `scratch.plane`: the windows that cover this plane, whether among these or not.
  void blend(const WindowValues& windows, const Plane& plane, Scratch& scratch) const;
  const std::vector<OutputAxis>& axes() const { return axes_; }

 private:
  void extend(const Coverings& from, std::size_t axis, std::int64_t at, Coverings& to) const;
  void blend_section(const WindowValues& windows, const Plane& plane, const Coverings& section, std::int64_t row,
                     Scratch& scratch) const;
  void blend_rows(const WindowValues& windows, const Plane& plane, const Coverings& at, std::int64_t row,
                  std::int64_t rows, Scratch& scratch) const;
  void find_windows(const WindowValues& windows, const Coverings& at, std::int64_t rows, Scratch& scratch) const;
  const float* converted(const WindowValues& windows, const std::byte* from, std::int64_t rows, float* to) const;
  bool find_stretches(const WindowValues& windows, const Coverings& at, bool means, Scratch& scratch) const;

  std::vector<OutputAxis> axes_;
  std::vector<std::vector<Cover>> covers_;   // by axis
};

}  // namespace tenfold::windows
