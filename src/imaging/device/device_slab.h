// The planes of an image that windows need now, in a ring on a GPU: each travels once, in its own type.
#pragma once

#include <cstddef>
#include <vector>

#include "device/pinned_pieces.h"
#include "device/window_kernels.h"
#include "windows/window_state.h"

namespace tenfold::imaging {

class DeviceSlab {
 public:
  // `planes`: how many a batch of windows may need at once. `stream`: on which copies run.
  // `pool`: for copies in the host's memory.
  DeviceSlab(DeviceWork& work, const SlidingWindow& windows, ImageSource& source, std::int64_t planes, void* stream,
             Parallel& pool);
  // Planes before `end` of an image, of its first axis, are on their way; those before `begin` may go. Both ascend
  // within an image, and images do. True: something was copied.
  bool need(std::int64_t image, std::int64_t begin, std::int64_t end);
  std::int64_t channels() const { return shape_[1]; }
  // Windows `first` to first + count - 1 of the image, `count` at most kWindowsOfACut, to `to`.
  void cut(const WindowKernels& kernels, std::int64_t first, std::int64_t count, DType dtype, void* to, void* stream);

 private:
  void read(std::int64_t begin, std::int64_t end);
  // [begin, end) of a channel, from planes that lie dense at `from`, by way of pinned memory.
  void send(std::int64_t channel, std::int64_t begin, std::int64_t end, const std::byte* from);

  DeviceWork& work_;
  const windows::WindowState& windows_;
  ImageSource& source_;
  void* stream_;
  Parallel& pool_;
  Shape shape_;
  std::int64_t chunk_ = 1, capacity_ = 0, image_ = -1, end_ = 0, section_bytes_ = 1;
  std::shared_ptr<void> ring_, maps_;      // no ring: the source lies on the GPU
  std::array<std::int64_t, 4> map_at_{};   // where the map of an axis begins in `maps_`
  std::unique_ptr<PinnedPieces> pieces_;
  std::vector<std::byte> group_;
};

}  // namespace tenfold::imaging
