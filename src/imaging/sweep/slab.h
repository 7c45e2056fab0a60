// The planes of an image that windows need now, in a ring: each is read once.
#pragma once

#include <cstddef>
#include <vector>

#include "sweep/batches.h"

namespace tenfold::imaging {

class Slab {
 public:
  // What the batches need, of these rows of each plane. A source in memory is seen in place, whole.
  Slab(const windows::WindowState& windows, ImageSource& source, const Batches& batches, Range rows);
  // Planes before `end` of an image, of its first axis, are there; those before `begin` may go. Both ascend within an
  // image, and images do.
  void need(std::int64_t image, std::int64_t begin, std::int64_t end);
  bool in_place() const { return capacity_ == 0; }
  windows::ImageView view(std::int64_t image) const;
  // Bytes of a ring and of a group of `chunk` planes for batches that need `planes` of `extent`.
  static std::int64_t memory(std::int64_t planes, std::int64_t extent, std::int64_t chunk, std::int64_t plane_bytes);

 private:
  void read(std::int64_t begin, std::int64_t end);

  const windows::WindowState& windows_;
  ImageSource& source_;
  Shape shape_;
  Range rows_;
  std::int64_t capacity_ = 0, image_ = -1, end_ = 0, section_ = 1;   // voxels of a plane
  std::vector<std::byte> ring_, group_;
};

}  // namespace tenfold::imaging
