// The ring has room for what a batch needs and for one group of planes of the source beyond it.
#include "sweep/slab.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace tenfold::imaging {

Slab::Slab(const windows::WindowState& windows, ImageSource& source, const Batches& batches, Range rows)
    : windows_(windows), source_(source), shape_(source.shape()), rows_(rows) {
  if (source.memory() != nullptr) return;
  const std::int64_t chunk = source.chunk();
  require(chunk > 0, ErrorKind::invalid_argument, "the source says that it stores ", chunk,
          " planes together: expected at least 1");
  capacity_ = std::min(windows_.grid[0].image, batches.max_planes() + chunk - 1);
  for (std::size_t a = 1; a < batches.grid().size(); ++a) section_ *= batches.grid()[a].image;
  ring_.resize(static_cast<std::size_t>(byte_size(source.dtype(), shape_[1] * capacity_ * section_)));
}

std::int64_t Slab::memory(std::int64_t planes, std::int64_t extent, std::int64_t chunk, std::int64_t plane_bytes) {
  return plane_bytes * (std::min(extent, planes + chunk - 1) + std::min(extent, chunk));
}

void Slab::read(std::int64_t begin, std::int64_t end) {
  const std::size_t rows = windows_.image.size() == 1 ? 0 : 1;   // an image of one axis has no axis of planes
  Shape from(windows_.image.size()), extent = windows_.image;
  if (rows != 0) from[0] = begin, extent[0] = end - begin;
  from[rows] = rows_.begin, extent[rows] = rows_.count();
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
  const std::int64_t chunk = source_.chunk();
  if (image != image_) image_ = image, end_ = begin / chunk * chunk;
  const std::int64_t extent = windows_.grid[0].image;
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
