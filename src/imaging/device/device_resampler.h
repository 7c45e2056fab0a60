// Means of one output on a GPU to results on another grid, plane by plane. See windows/resampler.h, whose results these are.
#pragma once

#include <vector>

#include "device/window_kernels.h"
#include "windows/finish.h"
#include "windows/resample_axis.h"

namespace tenfold::imaging {

Ending ending_of(const windows::Finish& how, std::int64_t channels);

class DeviceResampler {
 public:
  // `axes`: of the means to the results, 2 to 4, planes first. All work goes to `stream`.
  DeviceResampler(DeviceWork& work, const WindowKernels& kernels, std::vector<windows::ResampleAxis> axes,
                  std::int64_t channels, const windows::Finish& how, void* stream);

  std::int64_t section() const { return extent(1) * extent(2) * extent(3); }   // results of a plane of a channel
  // Where plane `z` of the means is to be written: planes ascend, and two of them exist.
  float* plane(std::int64_t z) const { return static_cast<float*>(means_.get()) + z % 2 * from_section_; }
  std::int64_t channel_stride() const { return 2 * from_section_; }
  // That plane is there: planes of results from done() up to this one are ready.
  std::int64_t ready(std::int64_t z) const { return windows::ready_planes(axes_[0], done_, z); }
  std::int64_t done() const { return done_; }
  void set_done(std::int64_t done) { done_ = done; }
  // Ready planes [first, first + count) to `to`. Strides in elements.
  void finish(void* to, std::int64_t channel_stride, std::int64_t plane_stride, std::int64_t first,
              std::int64_t count) const;

 private:
  std::int64_t extent(std::size_t axis) const { return axes_[axis].extent(); }

  DeviceWork& work_;
  const WindowKernels& kernels_;
  std::vector<windows::ResampleAxis> axes_;   // four
  Ending ending_;
  void* stream_;
  std::int64_t from_section_, done_ = 0;
  std::shared_ptr<void> means_, places_, weights_;   // by axis: first of all results, second of all; weights
};

}  // namespace tenfold::imaging
