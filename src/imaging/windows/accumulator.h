// Sums of one output over the windows of a stretch of planes, until no later window touches them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/threads/parallel.h"
#include "windows/finish.h"
#include "windows/plane_blender.h"

namespace tenfold::windows {

// Predictions [window, channel, roi...] of the windows first to first + count - 1 of an image, dense.
struct Predictions {
  std::int64_t first, count;
  const std::byte* values;
  DType dtype;
};

class Accumulator {
 public:
  // `weights` over the output's roi, whose sum divides; empty: one.
  Accumulator(std::vector<OutputAxis> axes, std::int64_t channels, std::vector<float> weights);

  const std::vector<OutputAxis>& axes() const { return blender_.axes(); }
  std::int64_t channels() const { return channels_; }
  // Sums of the next image lie where its means go, [channel, plane, section...] of f32, in place of memory of one roi's
  // extent. For means as they are, of axes without padding.
  void sum_in_place(float* to) { in_place_ = to; }
  bool may_sum_in_place(const Finish& how) const;
  // Adds windows in their order; where sums are not in place, all begin at the same plane, and only planes from there
  // to one roi's extent are held. `weights`: of these predictions; null: one.
  void add(const Predictions& windows, const float* weights, Parallel& parallel);
  // Finishes the planes [begin, end) of the padded output: those of the image go to `to`, as finish.h says. Throws
  // invalid_argument where weights sum to zero.
  void finish(std::int64_t begin, std::int64_t end, const Finish& how, const PlaneTarget& to, Parallel& parallel);

 private:
  float* sums(std::int64_t channel, std::int64_t z) const {   // of a plane of the padded output
    if (in_place_ != nullptr) return in_place_ + (channel * axes()[0].padded + z) * section_;
    return ring_ + (channel * axes()[0].roi + z % axes()[0].roi) * section_;
  }
  void sum_weights(Parallel& parallel);
  void add_weights(std::int64_t plane, PlaneBlender::Scratch& scratch);
  Interval planes_of(const Predictions& windows) const;
  struct Scratch {                          // of a thread
    PlaneBlender::Scratch blender;
    Divisors divisors;
    RowValues row;
  };
  std::vector<Scratch> make_scratch(const Parallel& parallel) const;
  void find_maps(const Coverings& plane, Divisors& divisors) const;
  void finish_row(std::int64_t z, std::int64_t row, const Finish& how, const PlaneTarget& to, Scratch& scratch) const;
  void finish_rings(std::int64_t begin, std::int64_t end, const Finish& how, const PlaneTarget& to, Parallel& parallel);

  PlaneBlender blender_;
  std::int64_t channels_, section_ = 1, window_section_ = 1;   // voxels of a plane, of the output and of a window
  std::int64_t windows_of_plane_ = 1;       // that begin at one plane
  std::vector<float> weights_;
  // [channel, plane, section...], and [plane, section...]: what all windows that begin at one plane add to the
  // divisors, plane by plane from there. It is the same wherever they begin.
  Tensor sums_;
  std::unique_ptr<float[]> weight_sums_;
  float* ring_ = nullptr;                   // `sums_`
  float* in_place_ = nullptr;
  bool surely_positive_ = false;            // all divisors, since all of `weight_sums_` are
  bool positive_ = true;                    // all divisors that were needed so far
};

}  // namespace tenfold::windows
