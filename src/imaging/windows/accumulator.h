// Sums of one output over the windows of a stretch of planes, until no later window touches them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/threads/parallel.h"
#include "windows/axis.h"
#include "windows/finish.h"

namespace tenfold::windows {

// Predictions of one window: [channel, roi...] of the output.
struct Prediction {
  const std::byte* values;
  std::vector<std::size_t> at;   // the window's indices along the axes
};

class Accumulator {
 public:
  // `weights` over the output's roi; empty: one.
  Accumulator(std::vector<OutputAxis> axes, std::int64_t channels, std::vector<float> weights);

  const std::vector<OutputAxis>& axes() const { return axes_; }
  std::int64_t channels() const { return channels_; }
  // Adds windows that begin at the same plane, in their order. Only planes from there to one roi's extent are held.
  // `weights`: of these predictions, in place of the usual ones, which the divisor keeps; null: the usual ones.
  void add(std::span<const Prediction> windows, DType dtype, const float* weights, Parallel& parallel);
  // Finishes the planes [begin, end) of the padded output: those of the image go to `to`, as finish.h says. All sums of them are
  // cleared. Throws invalid_argument where weights sum to zero.
  void finish(std::int64_t begin, std::int64_t end, const Finish& how, const PlaneTarget& to, Parallel& parallel);

 private:
  struct Box { std::int64_t begin, end; };
  Box box(std::size_t axis, std::size_t index) const;   // of a window, what counts
  void add_plane(float* sums, const float* values, const float* weights, const std::vector<std::size_t>& at) const;
  float* plane(std::vector<float>& of, std::int64_t channel, std::int64_t z) { return of.data() + (channel * axes_[0].roi + z % axes_[0].roi) * section_; }
  float finish_row(std::int64_t z, std::int64_t row, const Finish& how, const PlaneTarget& to, std::vector<float>& scratch);

  std::vector<OutputAxis> axes_;
  std::int64_t channels_, section_ = 1, window_section_ = 1;   // voxels of a plane, of the output and of a window
  std::vector<float> weights_, sums_, divisors_;
};

}  // namespace tenfold::windows
