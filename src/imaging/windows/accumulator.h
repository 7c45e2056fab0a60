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
  // `weights` over the output's roi, whose sum divides; empty: one.
  Accumulator(std::vector<OutputAxis> axes, std::int64_t channels, std::vector<float> weights);

  const std::vector<OutputAxis>& axes() const { return axes_; }
  std::int64_t channels() const { return channels_; }
  // Sums of the next image lie where its means go, [channel, plane, section...] of f32, in place of memory of one roi's
  // extent. For means as they are, of axes without padding.
  void sum_in_place(float* to) { in_place_ = to; }
  bool may_sum_in_place(const Finish& how) const;
  // Adds windows that begin at the same plane, in their order. Only planes from there to one roi's extent are held.
  // `weights`: of these predictions; null: one.
  void add(std::span<const Prediction> windows, DType dtype, const float* weights, Parallel& parallel);
  // Finishes the planes [begin, end) of the padded output: those of the image go to `to`, as finish.h says. Throws
  // invalid_argument where weights sum to zero.
  void finish(std::int64_t begin, std::int64_t end, const Finish& how, const PlaneTarget& to, Parallel& parallel);

 private:
  struct Box { std::int64_t begin, end; };
  Box box(std::size_t axis, std::size_t index) const;   // of a window, what counts
  // Of a window's coordinates, the first that no window before it on the axis has.
  std::int64_t fresh(std::size_t axis, std::size_t index) const;
  // `fresh_plane`: windows that begin at another plane have not added to it.
  void add_plane(float* sums, const float* values, const float* weights, const std::vector<std::size_t>& at,
                 bool fresh_plane) const;
  float* sums(std::int64_t channel, std::int64_t z) {   // of a plane of the padded output
    if (in_place_ != nullptr) return in_place_ + (channel * axes_[0].padded + z) * section_;
    return sums_.mutable_data<float>() + (channel * axes_[0].roi + z % axes_[0].roi) * section_;
  }
  void add_weights(std::int64_t plane);
  const float* divisor_row(std::int64_t z, std::int64_t row, std::vector<float>& scratch) const;
  struct Scratch { std::vector<float> divisors, means; };   // of a thread
  float finish_row(std::int64_t z, std::int64_t row, const Finish& how, const PlaneTarget& to, Scratch& scratch);

  std::vector<OutputAxis> axes_;
  std::int64_t channels_, section_ = 1, window_section_ = 1;   // voxels of a plane, of the output and of a window
  std::vector<float> weights_;
  // [channel, plane, section...], and [plane, section...]: what all windows that begin at one plane add to the
  // divisors, plane by plane from there. It is the same wherever they begin.
  Tensor sums_, weight_sums_;
  float* in_place_ = nullptr;
  bool weighed_ = false;
};

}  // namespace tenfold::windows
