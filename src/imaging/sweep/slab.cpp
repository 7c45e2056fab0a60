// The ring has room for what a batch needs and for one group of planes of the source beyond it. While a group is copied
// to it and computed, the next one is read.
#include "sweep/slab.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace tenfold::imaging {

Slab::Slab(const windows::WindowState& windows, ImageSource& source, const Batches& batches, Range rows)
    : windows_(windows), source_(source), shape_(source.shape()), rows_(rows), reader_(source) {
  if (source.memory() != nullptr) return;
  chunk_ = source.chunk();
  require(chunk_ > 0, ErrorKind::invalid_argument, "the source says that it stores ", chunk_,
          " planes together: expected at least 1");
  if (batches.total() == 0) return;
  capacity_ = std::min(windows_.grid[0].image, batches.max_planes() + chunk_ - 1);
  for (std::size_t a = 1; a < batches.grid().size(); ++a) section_ *= batches.grid()[a].image;
  ring_.resize(static_cast<std::size_t>(byte_size(source.dtype(), shape_[1] * capacity_ * section_)));
  first_ = batches.planes(0, 1).begin / chunk_ * chunk_;
  ask({0, first_, std::min(windows_.grid[0].image, first_ + chunk_)});
}

std::int64_t Slab::memory(std::int64_t planes, std::int64_t extent, std::int64_t chunk, std::int64_t plane_bytes) {
  return plane_bytes * (std::min(extent, planes + chunk - 1) + 2 * std::min(extent, chunk));
}

Slab::Group Slab::after(const Group& group) const {
  const std::int64_t extent = windows_.grid[0].image;
  const bool last = group.end == extent;
  const std::int64_t begin = last ? first_ : group.end;
  return {group.image + (last ? 1 : 0), begin, std::min(extent, begin + chunk_)};
}

void Slab::ask(const Group& group) {
  next_ = group;
  if (group.image == shape_[0]) return;
  const std::size_t rows = windows_.image.size() == 1 ? 0 : 1;   // an image of one axis has no axis of planes
  ReadAhead::Region region{group.image, Shape(windows_.image.size()), windows_.image};
  if (rows != 0) region.begin[0] = group.begin, region.extent[0] = group.end - group.begin;
  region.begin[rows] = rows_.begin, region.extent[rows] = rows_.count();
  std::vector<std::byte> memory = std::move(group_);   // which was copied
  memory.resize(static_cast<std::size_t>(byte_size(source_.dtype(), shape_[1] * (group.end - group.begin) * section_)));
  reader_.ask(std::move(region), std::move(memory));
}

void Slab::copy(const Group& group) {
  const auto bytes = static_cast<std::size_t>(byte_size(source_.dtype(), section_));
  for (std::int64_t c = 0; c < shape_[1]; ++c)
    for (std::int64_t z = group.begin; z < group.end; ++z)
      std::memcpy(ring_.data() + static_cast<std::size_t>(c * capacity_ + z % capacity_) * bytes,
                  group_.data() + static_cast<std::size_t>(c * (group.end - group.begin) + z - group.begin) * bytes,
                  bytes);
}

void Slab::need(std::int64_t image, std::int64_t begin, std::int64_t end) {
  if (in_place()) return;
  while (next_.image < image || (next_.image == image && next_.begin < end)) {
    const Group group = next_;
    check(group.image == image && group.end - begin <= capacity_, "the ring of planes is too small");
    std::vector<std::byte> read = reader_.take();
    ask(after(group));                   // into the memory of the group before
    group_ = std::move(read);
    copy(group);
  }
}

windows::ImageView Slab::view(std::int64_t image) const {
  if (in_place()) return windows::view_of(windows_, source_.memory(), source_.dtype(), shape_, image);
  return {ring_.data(), source_.dtype(), shape_[1], capacity_};
}

}  // namespace tenfold::imaging
