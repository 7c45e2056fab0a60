// Sums of one output on a GPU, until no later window touches them. See windows/accumulator.h, whose sums these are.
#pragma once

#include <optional>
#include <vector>

#include "device/device_predictor.h"
#include "device/device_resampler.h"
#include "device/outbox.h"
#include "device/window_kernels.h"
#include "parts/part.h"

namespace tenfold::imaging {

class DeviceSums {
 public:
  // `weights` over the output's roi; empty: one. All work goes to `stream`, and copies in the host's memory to `pool`.
  DeviceSums(DeviceWork& work, const WindowKernels& kernels, OutputPart part, const DevicePredictor::Output& output,
             const std::vector<float>& weights, const windows::Finish& how, void* stream, Parallel& pool);

  const std::vector<windows::OutputAxis>& axes() const { return axes_; }
  std::int64_t plane_bytes() const;   // of a finished plane of all channels
  std::int64_t max_windows() const;   // of an add()
  // `count` windows, max_windows() at most, the first at these indices and the others behind it on the last axis.
  void add(const void* values, std::span<const std::size_t> at, std::int64_t count);
  // Of so many images. `opened`: by an earlier part.
  void open(std::shared_ptr<ImageSink> sink, std::int64_t images, bool opened);
  // Finishes the planes up to `end` of the padded output of an image, which go to the sink by way of the outbox: they, or
  // the planes of another grid that are between them.
  void flush(Outbox& outbox, std::int64_t image, std::int64_t end);
  // Of the divisors so far. Waits for the stream. Throws invalid_argument.
  void check_divisors();

 private:
  struct Box { int begin, end; };
  std::int64_t roi_voxels() const;
  Box box(std::size_t axis, std::size_t index) const;   // of a window, what counts
  void sum_weights();
  void launch_add(float* sums, const void* values, std::int64_t channels, const std::array<std::size_t, 4>& at,
                  std::int64_t count, bool all_planes);
  void clear(std::int64_t begin, std::int64_t end);
  void finish(const windows::Finish& how, void* to, std::int64_t channel_stride, std::int64_t plane_stride,
              std::int64_t first, std::int64_t count);
  void produce(void* to, std::int64_t channel_stride, std::int64_t plane_stride, std::int64_t first,
               std::int64_t count);
  std::size_t lifted() const { return axes_.size() - part_.whole.size(); }
  std::int64_t whole_planes() const { return lifted() != 0 ? 1 : part_.whole[0]; }
  std::int64_t place(std::int64_t image, std::int64_t channel, std::int64_t plane) const;
  void hand_on(Outbox& outbox, std::int64_t image, std::int64_t first, std::int64_t last);
  void finish_in_place(void* memory, std::int64_t image, std::int64_t first, std::int64_t last);
  void send(Outbox& outbox, std::int64_t image, std::int64_t first, std::int64_t last);
  void deliver(std::int64_t image, std::int64_t first, std::int64_t count, const std::byte* from) const;

  DeviceWork& work_;
  const WindowKernels& kernels_;
  OutputPart part_;
  Shape strides_;                      // of the spatial axes of a channel of a window
  std::vector<windows::OutputAxis> axes_;
  std::array<windows::OutputAxis, 4> four_;
  // Of a plane of a channel: sums, means, results of the part and of the whole.
  std::int64_t channels_, section_ = 1, crop_section_ = 1, result_section_ = 1, whole_section_ = 1, done_ = 0;
  DType dtype_;
  windows::Finish how_;
  void* stream_;
  Parallel& pool_;
  std::shared_ptr<void> sums_, divisors_, weights_, starts_, not_positive_;
  std::optional<DeviceResampler> resampler_;
  std::shared_ptr<ImageSink> sink_;
  Shape image_;                        // [image, channel, spatial...]
};

}  // namespace tenfold::imaging
