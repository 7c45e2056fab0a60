// The ring has room for what a batch needs and for one group of planes of the source beyond it.
#include "device/device_slab.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace tenfold::imaging {
namespace {

constexpr std::int64_t kPlanesOfMemory = 8;   // a source in memory is sent so many at a time

}  // namespace

DeviceSlab::DeviceSlab(DeviceWork& work, const SlidingWindow& windows, ImageSource& source, const Batches& batches,
                       Range rows, void* stream, Parallel& pool)
    : work_(work),
      windows_(windows::WindowAccess::of(windows)),
      source_(source),
      stream_(stream),
      pool_(pool),
      batches_(batches),
      rows_(rows),
      shape_(source.shape()),
      grid_(source.gpu_memory() != nullptr ? windows_.grid : batches.grid()),
      chunk_(source.memory() != nullptr || source.gpu_memory() != nullptr ? kPlanesOfMemory : source.chunk()) {
  require(chunk_ > 0, ErrorKind::invalid_argument, "the source says that it stores ", chunk_,
          " planes together: expected at least 1");
  require(windows_.cutter.window_elements() <= kMaxVoxels, ErrorKind::unsupported, "windows of ",
          windows_.cutter.window_elements(), " voxels: it has kernels for ", kMaxVoxels);
  capacity_ = std::min(grid_[0].image, batches.max_planes() + chunk_ - 1);
  first_ = batches.total() > 0 ? batches.planes(0, 1).begin / chunk_ * chunk_ : 0;
  std::int64_t section = 1;
  for (std::size_t a = 1; a < grid_.size(); ++a) section *= grid_[a].image;
  section_bytes_ = byte_size(source.dtype(), section);
  if (source.gpu_memory() != nullptr) {
    capacity_ = grid_[0].image;   // windows are cut where it lies
  } else {
    ring_ = work.allocate(shape_[1] * capacity_ * section_bytes_);
    pieces_ = std::make_unique<PinnedPieces>(work, kPieceBytes, 4);
  }
  std::vector<int> maps;
  const std::array<windows::Axis, 4> axes = four_axes(grid_);
  for (std::size_t a = 0; a < 4; ++a) {
    map_at_[a] = static_cast<std::int64_t>(maps.size());
    for (const std::int64_t at : windows::padding_map(axes[a], windows_.padding)) maps.push_back(static_cast<int>(at));
  }
  const auto bytes = static_cast<std::int64_t>(maps.size() * sizeof(int));
  maps_ = work.allocate(bytes);
  const std::shared_ptr<void> done = work.make_event();
  work.copy(maps_.get(), maps.data(), bytes, stream);
  work.record(done.get(), stream), work.wait(done.get());
}

void DeviceSlab::send(std::int64_t channel, std::int64_t begin, std::int64_t end, const std::byte* from) {
  for (std::int64_t at = begin; at < end;) {   // runs that do not cross the end of the ring
    const std::int64_t slot = at % capacity_, run = std::min(end - at, capacity_ - slot);
    std::byte* const to = static_cast<std::byte*>(ring_.get()) + (channel * capacity_ + slot) * section_bytes_;
    const std::byte* const source = from + (at - begin) * section_bytes_;
    for (std::int64_t done = 0, all = run * section_bytes_; done < all;) {
      const std::int64_t some = std::min(all - done, pieces_->bytes());
      std::byte* const piece = pieces_->next();
      copy_in_parts(pool_, piece, source + done, some);
      work_.copy(to + done, piece, some, stream_);
      pieces_->used(stream_);
      done += some;
    }
    at += run;
  }
}

void DeviceSlab::read(std::int64_t begin, std::int64_t end) {
  const std::size_t row = windows_.image.size() == 1 ? 0 : 1;   // an image of one axis has no axis of planes
  const std::int64_t all_rows = windows_.image[row], planes = windows_.grid[0].image;
  const auto* const from = static_cast<const std::byte*>(source_.memory());
  if (from == nullptr) {
    Shape at(windows_.image.size()), extent = windows_.image;
    if (row != 0) at[0] = begin, extent[0] = end - begin;
    at[row] = rows_.begin, extent[row] = rows_.count();
    group_.resize(static_cast<std::size_t>(shape_[1] * (end - begin) * section_bytes_));
    source_.read(image_, at, extent, group_.data());
    for (std::int64_t c = 0; c < shape_[1]; ++c)
      send(c, begin, end, group_.data() + c * (end - begin) * section_bytes_);
    return;
  }
  const std::int64_t row_bytes = section_bytes_ / rows_.count();
  for (std::int64_t c = 0; c < shape_[1]; ++c) {
    const auto plane = [&](std::int64_t z) {
      return from + (((image_ * shape_[1] + c) * planes + z) * all_rows + rows_.begin) * row_bytes;
    };
    if (rows_.count() == all_rows) send(c, begin, end, plane(begin));
    else
      for (std::int64_t z = begin; z < end; ++z) send(c, z, z + 1, plane(z));
  }
}

bool DeviceSlab::need(std::int64_t image, std::int64_t begin, std::int64_t end) {
  if (image != image_) image_ = image, end_ = first_;
  if (in_place()) return false;
  const bool news = end_ < end;
  while (end_ < end) {
    const std::int64_t next = std::min(grid_[0].image, (end_ / chunk_ + 1) * chunk_);
    check(next - begin <= capacity_, "the ring of planes is too small");
    read(end_, next);
    end_ = next;
  }
  return news;
}

void DeviceSlab::cut(const WindowKernels& kernels, std::int64_t first, std::int64_t count,
                     const DevicePredictor::Input& input, void* to, void* stream) {
  const std::array<windows::Axis, 4> axes = four_axes(grid_);
  const std::size_t lifted = 4 - grid_.size();
  CutArgs args{};
  std::int64_t voxels = 1;
  for (std::size_t a = 0; a < 4; ++a) {
    args.maps[a] = static_cast<const int*>(maps_.get()) + map_at_[a];
    args.roi[a] = static_cast<int>(axes[a].roi), args.extent[a] = static_cast<int>(axes[a].image);
    voxels *= axes[a].roi;
  }
  four_strides(input.strides, grid_.size(), args.stride);
  args.image = ring_ ? ring_.get()
                     : static_cast<const std::byte*>(source_.gpu_memory()) +
                           image_ * shape_[1] * capacity_ * section_bytes_;
  args.windows = to, args.planes = static_cast<int>(capacity_);
  args.channels = static_cast<int>(shape_[1]), args.constant = static_cast<float>(windows_.cval);
  args.from = window_type(source_.dtype()), args.to = window_type(input.dtype);
  for (std::int64_t w = 0; w < count; ++w) {
    const std::int64_t number =
        in_place() ? batches_.number(first + w) % windows::count(grid_) : (first + w) % batches_.per_image();
    const std::vector<std::size_t> at = windows::indices(grid_, number);
    for (std::size_t a = 0; a < at.size(); ++a)
      args.starts[w][a == 0 ? 0 : a + lifted] = static_cast<int>(grid_[a].starts[at[a]]);
  }
  work_.launch(kernels.cut.get(), {blocks_of(voxels), shape_[1], count}, kThreads, &args, stream);
}

}  // namespace tenfold::imaging
