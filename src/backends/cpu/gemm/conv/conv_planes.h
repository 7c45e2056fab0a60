// The planes of a part of an image, from which convolutions of few filters read (kernels/conv/planes_f32.h).
#pragma once

#include "backends/cpu/gemm/conv/conv_shape.h"
#include "backends/cpu/kernels/move/move.h"

namespace tenfold::backends::cpu {

// A plane holds, of one channel in one plane of the window, every stride-th position in both directions from a phase on.
class ConvPlanes {
 public:
  ConvPlanes() = default;
  // For parts of `lines` x `columns` results.
  ConvPlanes(const ConvShape& shape, std::int64_t lines, std::int64_t columns);

  std::int64_t pitch() const { return pitch_; }   // of a line of a plane, and of a line of results
  std::int64_t floats() const;                    // of the planes of all channels
  // From position 0 to what [channel][tap] of the kernel reads there.
  std::vector<std::int64_t> taps(std::int64_t first_channel, std::int64_t channels) const;

  // Fills the planes for results from (z, y, x) of an image on.
  void fill(const ConvExtents& e, const float* image, std::int64_t channel_stride, const Three& at, const MoveKernels& move,
            float* to) const noexcept;

 private:
  void line(const ConvExtents& e, const float* from, std::int64_t channel_stride, std::int64_t x, const MoveKernels& move,
            float* to) const noexcept;
  std::int64_t of_phase(std::size_t y, std::size_t x) const { return static_cast<std::int64_t>(y * phases_[2].size() + x) * plane_; }

  ConvShape shape_;
  std::vector<std::int64_t> phases_[3];            // that the taps of a dim have: [1] and [2]
  std::int64_t rows_ = 0, pitch_ = 0, plane_ = 0;  // lines of a plane; floats of a line, of a plane
  std::int64_t depth_plane_ = 0, channel_ = 0;     // floats of all phases; of all planes of a channel
};

}  // namespace tenfold::backends::cpu
