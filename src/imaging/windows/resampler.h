// Means on another grid, plane by plane, before activation and reduction: two planes of them exist at a time.
#pragma once

#include <array>
#include <vector>

#include "base/threads/parallel.h"
#include "windows/finish.h"
#include "windows/resample_axis.h"

namespace tenfold::windows {

class Resampler {
 public:
  // 2 to 4 axes, planes first.
  Resampler(std::vector<ResampleAxis> axes, std::int64_t channels);

  void begin_image() { next_ = 0; }
  // Where the next plane of means is written, [channel, rows...]: `section()` floats for each channel.
  float* plane() { return plane_.data(); }
  std::int64_t section() const { return section_; }
  // That plane is there, which is number `z` of the image: planes ascend. Planes up to the result are ready then.
  std::int64_t add_plane(std::int64_t z, Parallel& parallel);
  std::int64_t done() const { return next_; }
  // Finishes planes [done(), end) of the grid.
  void finish(std::int64_t end, const Finish& how, const PlaneTarget& to, Parallel& parallel);
  // Bytes of a resampler: of its two planes, and of the one that comes.
  static std::int64_t memory(const std::vector<ResampleAxis>& axes, std::int64_t channels);

 private:
  struct Rows { const float* data; std::int64_t stride; };   // of all channels
  struct Scratch {                     // of a thread
    std::array<std::vector<float>, 2> rows;
    std::array<std::int64_t, 2> at{-1, -1};   // which ones they are
    std::array<std::vector<float>, 2> outer;   // two of them, to be mixed along the outer axis
    RowValues values;
  };
  const float* source(std::int64_t z) const { return wide_[static_cast<std::size_t>(z % 2)].data(); }
  void mix_rows(Rows first, Rows second, float weight, float* to) const;
  Rows mix_planes(std::int64_t plane, std::int64_t row, std::vector<float>& memory) const;
  Rows row(std::int64_t plane, std::int64_t outer, std::int64_t y, Scratch& scratch, std::size_t slot) const;
  void finish_row(const Finish& how, Rows first, Rows second, float weight, std::byte* to, std::int64_t stride,
                  Scratch& scratch) const;

  std::vector<ResampleAxis> axes_;     // four: planes, outer, rows, voxels of a row
  std::int64_t channels_, section_, width_, wide_section_, next_ = 0;
  std::vector<float> plane_;
  std::array<std::vector<float>, 2> wide_;   // planes of means whose rows have the grid's width
};

}  // namespace tenfold::windows
