// One output on its way: sums of windows, and finished planes to a sink, on another grid where one is asked for.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "windows/accumulator.h"
#include "windows/resampler.h"
#include "windows/window_state.h"

namespace tenfold::imaging {

// What all outputs of a call have in common.
struct OutputOptions {
  OutputOptions(const windows::WindowState& windows, std::int64_t images, const StitchOptions& options);

  std::int64_t images;
  std::size_t lifted;                // axes that the windows' grid has in front of the image's
  windows::Finish how;
  Shape grid;                        // empty: none
  std::vector<GridInterpolation> interpolation;
};

class Output {
 public:
  // `window`: [channel, roi...]; `divisor`: weights whose sum divides; empty: one. Opens the sink.
  Output(const OutputOptions& options, std::vector<windows::OutputAxis> axes, Shape window, std::vector<float> divisor,
         std::shared_ptr<ImageSink> sink);

  const Shape& window() const { return window_; }
  // Windows of an image that begin at one plane, in their order. `weights`: null: one.
  void add(std::int64_t image, std::span<const windows::Prediction> windows, DType dtype, const float* weights,
           Parallel& parallel);
  // No later window touches planes of the padded output before `end`: they are handed on.
  void finish(std::int64_t image, std::int64_t end, Parallel& parallel);
  void finish_image(std::int64_t image, Parallel& parallel);
  // The planes that windows at the start `row` begin at.
  std::int64_t start(std::int64_t row) const { return sums_.axes()[0].starts[static_cast<std::size_t>(row)]; }

 private:
  void finish_on_grid(std::int64_t image, std::int64_t first, std::int64_t last, Parallel& parallel);
  windows::PlaneTarget target(std::int64_t image, std::int64_t first, std::int64_t count);
  void hand_on(std::int64_t image, std::int64_t first, std::int64_t count);

  OutputOptions options_;
  Shape window_, shape_;             // shape_: [image, channel, spatial...] of what the sink gets
  windows::Accumulator sums_;
  std::shared_ptr<ImageSink> sink_;
  std::optional<windows::Resampler> resampler_;
  std::vector<std::byte> planes_;    // for a sink without memory
  DType dtype_;
  std::int64_t voxels_ = 1, section_ = 1;   // elements of an image, and of a plane of a channel
  bool in_place_ = false;            // sums lie in the sink's memory
  std::int64_t done_ = 0;            // planes of the current image, in the padded output
};

// The axes of an output with `window` [channel, roi...].
std::vector<windows::OutputAxis> output_axes(const windows::Grid& grid, const Shape& window, std::size_t lifted);

}  // namespace tenfold::imaging
