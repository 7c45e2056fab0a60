// What a SlidingWindow is made of, for the folders of the library.
#pragma once

#include <vector>

#include "windows/cut.h"

namespace tenfold::windows {

struct WindowState {
  WindowState(const Shape& image, const SlidingWindowOptions& options);

  Shape image, roi;                  // as the caller has axes
  Grid grid;                // with an axis in front where the image has one alone
  WindowPadding padding;
  double cval;                       // of constant padding
  Cutter cutter;
  std::vector<float> weights;        // over the roi; empty: one
};

struct WindowAccess {
  static const WindowState& of(const SlidingWindow& windows) { return *windows.state_; }
  // Windows of another state, in place of those of `like`.
  static SlidingWindow make(SlidingWindow like, WindowState state) {
    like.state_ = std::make_shared<const WindowState>(std::move(state));
    return like;
  }
};

// Threads for calls with so many elements; 0: all processors, or the caller's thread alone where waking others takes
// longer than the work. Throws invalid_argument.
std::unique_ptr<Parallel> make_parallel(int threads, std::int64_t elements);
// The view of an image among `images` ([image, channel, spatial...]). Throws invalid_argument where they are not the
// windows'.
ImageView view_of(const WindowState& windows, const void* data, DType dtype, const Shape& images, std::int64_t image);
void check_images(const WindowState& windows, const Shape& images);

}  // namespace tenfold::windows
