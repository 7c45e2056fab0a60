// The planes of an image that windows need now, in a ring on a GPU: each travels once, in its own type.
#pragma once

#include <cstddef>
#include <vector>

#include "device/device_predictor.h"
#include "device/pinned_pieces.h"
#include "device/window_kernels.h"
#include "parts/batches.h"
#include "windows/window_state.h"

namespace tenfold::imaging {

class DeviceSlab {
 public:
  // What the batches need, of these rows of each plane. `stream`: on which copies run. `pool`: for copies in the host's
  // memory.
  DeviceSlab(DeviceWork& work, const SlidingWindow& windows, ImageSource& source, const Batches& batches, Range rows,
             void* stream, Parallel& pool);
  // Planes before `end` of an image, of its first axis, are on their way; those before `begin` may go. Both ascend
  // within an image, and images do. True: something was copied.
  bool need(std::int64_t image, std::int64_t begin, std::int64_t end);
  std::int64_t channels() const { return shape_[1]; }
  // Windows `first` to first + count - 1 of the batches, of one image and at most kWindowsOfACut, to `to`, which is as
  // `input` says.
  void cut(const WindowKernels& kernels, std::int64_t first, std::int64_t count, const DevicePredictor::Input& input,
           void* to, void* stream);

 private:
  bool in_place() const { return !ring_; }   // the source lies on the GPU
  void read(std::int64_t begin, std::int64_t end);
  // [begin, end) of a channel, from planes that lie dense at `from`, by way of pinned memory.
  void send(std::int64_t channel, std::int64_t begin, std::int64_t end, const std::byte* from);

  DeviceWork& work_;
  const windows::WindowState& windows_;
  ImageSource& source_;
  void* stream_;
  Parallel& pool_;
  const Batches& batches_;
  Range rows_;
  Shape shape_;
  windows::Grid grid_;                     // of the image, or of the rows that are here
  std::int64_t chunk_ = 1, capacity_ = 0, image_ = -1, first_ = 0, end_ = 0, section_bytes_ = 1;
  std::shared_ptr<void> ring_, maps_;
  std::array<std::int64_t, 4> map_at_{};   // where the map of an axis begins in `maps_`
  std::unique_ptr<PinnedPieces> pieces_;
  std::vector<std::byte> group_;
};

}  // namespace tenfold::imaging
