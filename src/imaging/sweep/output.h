// One output on its way: sums of windows, and finished planes to a sink, on another grid where one is asked for.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "parts/part.h"
#include "windows/accumulator.h"
#include "windows/resampler.h"

namespace tenfold::imaging {

class Output {
 public:
  // `window`: [channel, roi...]; `divisor`: weights whose sum divides; empty: one. Opens the sink.
  Output(const OutputOptions& options, OutputPart part, Shape window, std::vector<float> divisor,
         std::shared_ptr<ImageSink> sink);

  const Shape& window() const { return window_; }
  bool in_place() const { return in_place_; }
  // Windows of an image, in their order; where sums are not in place, they begin at one plane. `weights`: null: one.
  void add(std::int64_t image, const windows::Predictions& windows, const float* weights, Parallel& parallel);
  // No later window touches planes of the padded output before `end`: they are handed on.
  void finish(std::int64_t image, std::int64_t end, Parallel& parallel);
  void finish_image(std::int64_t image, Parallel& parallel);
  // The plane that windows of this place along the first axis begin at.
  std::int64_t start(std::int64_t place) const { return sums_.axes()[0].starts[static_cast<std::size_t>(place)]; }

 private:
  void finish_on_grid(std::int64_t image, std::int64_t first, std::int64_t last, Parallel& parallel);
  windows::PlaneTarget target(std::int64_t image, std::int64_t first, std::int64_t count);
  void hand_on(std::int64_t image, std::int64_t first, std::int64_t count);
  void copy_to_memory(std::int64_t image, const Shape& begin, const Shape& extent);
  bool direct() const { return !partial_ && sink_->memory() != nullptr; }

  std::size_t lifted_;
  windows::Finish how_;
  Shape window_, shape_;             // shape_: [image, channel, spatial...] of what the sink gets
  Shape begin_, extent_;             // of the part, spatial
  bool partial_ = false;
  windows::Accumulator sums_;
  std::shared_ptr<ImageSink> sink_;
  std::optional<windows::Resampler> resampler_;
  std::vector<std::byte> planes_;    // for a sink without memory, and for parts
  DType dtype_;
  std::int64_t section_ = 1;         // elements of a plane of a channel of the part
  bool in_place_ = false;            // sums lie in the sink's memory
  std::int64_t done_ = 0;            // planes of the current image, in the padded output
};

}  // namespace tenfold::imaging
