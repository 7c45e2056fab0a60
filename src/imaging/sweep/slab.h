// The planes of an image that windows need now, in a ring: each is read once, and the next group of them ahead.
#pragma once

#include <cstddef>
#include <vector>

#include "parts/batches.h"
#include "sweep/read_ahead.h"

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
  SweepSeconds seconds() const { return reader_.seconds(); }
  // Bytes of a ring and of two groups of `chunk` planes for batches that need `planes` of `extent`.
  static std::int64_t memory(std::int64_t planes, std::int64_t extent, std::int64_t chunk, std::int64_t plane_bytes);

 private:
  struct Group { std::int64_t image, begin, end; };
  Group after(const Group& group) const;
  void ask(const Group& group);
  void copy(const Group& group);

  const windows::WindowState& windows_;
  ImageSource& source_;
  Shape shape_;
  Range rows_;
  std::int64_t chunk_ = 1, first_ = 0;   // where images begin: the chunk of the first plane that is needed
  std::int64_t capacity_ = 0, section_ = 1;   // planes; elements of a plane of a channel
  Group next_{0, 0, 0};                  // which is being read
  std::vector<std::byte> ring_, group_;
  ReadAhead reader_;
};

}  // namespace tenfold::imaging
