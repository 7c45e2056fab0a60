// The planes of an image that windows need now, in a ring: each is read once.
#pragma once

#include <cstddef>
#include <vector>

#include "windows/window_state.h"

namespace tenfold::imaging {

class Slab {
 public:
  // `planes`: how many a batch of windows may need at once. A source in memory is seen in place.
  Slab(const SlidingWindow& windows, ImageSource& source, std::int64_t planes);
  // Planes before `end` of an image, of its first axis, are there; those before `begin` may go. Both ascend within an
  // image, and images do.
  void need(std::int64_t image, std::int64_t begin, std::int64_t end);
  windows::ImageView view(std::int64_t image) const;

 private:
  void read(std::int64_t begin, std::int64_t end);

  const windows::WindowState& windows_;
  ImageSource& source_;
  Shape shape_;
  std::int64_t capacity_ = 0, image_ = -1, end_ = 0, section_ = 1;   // voxels of a plane
  std::vector<std::byte> ring_, group_;
};

}  // namespace tenfold::imaging
