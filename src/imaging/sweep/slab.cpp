// The ring has room for what a batch needs and for one group of planes of the source beyond it.
#include "sweep/slab.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace tenfold::imaging {

Slab::Slab(const SlidingWindow& windows, ImageSource& source, std::int64_t planes)
    : windows_(windows::WindowAccess::of(windows)), source_(source), shape_(source.shape()) {
  windows::check_images(windows_, shape_);
  if (source.memory() != nullptr) return;
  const std::int64_t chunk = source.chunk();
  require(chunk > 0, ErrorKind::invalid_argument, "the source says that it stores ", chunk,
          " planes together: expected at least 1");
  const std::int64_t extent = windows_.grid[0].image;
  capacity_ = std::min(extent, planes + chunk - 1);
  for (std::size_t a = 1; a < windows_.grid.size(); ++a) section_ *= windows_.grid[a].image;
  ring_.resize(static_cast<std::size_t>(byte_size(source.dtype(), shape_[1] * capacity_ * section_)));
}

void Slab::read(std::int64_t begin, std::int64_t end) {
  const bool line = windows_.image.size() == 1;   // whose axis is no axis of planes
  Shape from(windows_.image.size()), extent = windows_.image;
  if (!line) from[0] = begin, extent[0] = end - begin;
  group_.resize(static_cast<std::size_t>(byte_size(source_.dtype(), shape_[1] * (end - begin) * section_)));
  source_.read(image_, from, extent, group_.data());
  const auto bytes = static_cast<std::size_t>(byte_size(source_.dtype(), section_));
  for (std::int64_t c = 0; c < shape_[1]; ++c)
    for (std::int64_t z = begin; z < end; ++z)
      std::memcpy(ring_.data() + static_cast<std::size_t>(c * capacity_ + z % capacity_) * bytes,
                  group_.data() + static_cast<std::size_t>(c * (end - begin) + z - begin) * bytes, bytes);
}

void Slab::need(std::int64_t image, std::int64_t begin, std::int64_t end) {
  if (capacity_ == 0) return;
  if (image != image_) image_ = image, end_ = 0;
  const std::int64_t chunk = source_.chunk(), extent = windows_.grid[0].image;
  while (end_ < end) {
    const std::int64_t next = std::min(extent, (end_ / chunk + 1) * chunk);
    check(next - begin <= capacity_, "the ring of planes is too small");
    read(end_, next);
    end_ = next;
  }
}

windows::ImageView Slab::view(std::int64_t image) const {
  if (capacity_ == 0) return windows::view_of(windows_, source_.memory(), source_.dtype(), shape_, image);
  return {ring_.data(), source_.dtype(), shape_[1], capacity_};
}

}  // namespace tenfold::imaging
