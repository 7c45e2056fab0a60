// Where a sweep stays on the GPU, nothing here is called but for addresses.
#include "native/imaging/gpu_images.h"

#include "native/errors.h"
#include "native/python_state.h"

namespace tenfold::python {
namespace {

// Bytes of a plane of a channel, and where region [begin, extent) of an image begins.
struct Region {
  std::int64_t channels, channel_bytes, at, bytes;   // `at` in the first channel; `bytes` of each channel
};
Region region_of(const Shape& shape, DType dtype, std::int64_t image, std::span<const std::int64_t> begin,
                 std::span<const std::int64_t> extent) {
  std::int64_t section = 1;
  for (std::size_t a = 3; a < shape.size(); ++a) section *= shape[a];
  const std::int64_t plane = byte_size(dtype, section), channel = shape[2] * plane;
  return {shape[1], channel, image * shape[1] * channel + begin[0] * plane, extent[0] * plane};
}

class GpuSource final : public ImageSource {
 public:
  GpuSource(const ArrayView& view, std::shared_ptr<GpuCopies> copies)
      : shape_(view.extents().begin(), view.extents().end()),
        dtype_(view.dtype),
        data_(static_cast<std::byte*>(view.data)),
        copies_(std::move(copies)) {}
  Shape shape() const override { return shape_; }
  DType dtype() const override { return dtype_; }
  const void* gpu_memory() const override { return data_; }
  void read(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
            void* to) override {
    const Region region = region_of(shape_, dtype_, image, begin, extent);
    for (std::int64_t c = 0; c < region.channels; ++c)
      copies_->copy(static_cast<std::byte*>(to) + c * region.bytes, data_ + region.at + c * region.channel_bytes,
                    region.bytes);
  }

 private:
  Shape shape_;
  DType dtype_;
  const std::byte* data_;
  std::shared_ptr<GpuCopies> copies_;
};

class GpuSink final : public ImageSink {
 public:
  GpuSink(nb::handle like, Maker maker, std::shared_ptr<GpuCopies> copies, std::shared_ptr<nb::object> made)
      : like_(like), maker_(maker), copies_(std::move(copies)), made_(std::move(made)) {}
  void open(DType dtype, const Shape& shape) override {
    const Locked locked;
    *made_ = new_array(maker_, like_, dtype, shape, data_);
    dtype_ = dtype, shape_ = shape;
  }
  void* gpu_memory() override { return data_; }
  void write(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
             const void* from) override {
    const Region region = region_of(shape_, dtype_, image, begin, extent);
    for (std::int64_t c = 0; c < region.channels; ++c)
      copies_->copy(static_cast<std::byte*>(data_) + region.at + c * region.channel_bytes,
                    static_cast<const std::byte*>(from) + c * region.bytes, region.bytes);
  }

 private:
  nb::handle like_;
  Maker maker_;
  std::shared_ptr<GpuCopies> copies_;
  std::shared_ptr<nb::object> made_;
  void* data_ = nullptr;
  DType dtype_ = DType::f32;
  Shape shape_;
};

}  // namespace

void GpuCopies::copy(void* to, const void* from, std::int64_t bytes) {
  const std::shared_ptr<void> done = work_->make_event();
  work_->copy(to, from, bytes, stream_.get());
  work_->record(done.get(), stream_.get()), work_->wait(done.get());
}

GpuImages::GpuImages(nb::object array, ArrayView view)
    : array_(std::move(array)), view_(std::move(view)), device_("cuda:" + std::to_string(view_.device.device_id)) {
  if (view_.rank < 3)
    raise_error(ErrorKind::invalid_argument, "images are [" + text(Shape(view_.extents().begin(), view_.extents().end())) +
                                                 "], expected [image, channel, spatial...]");
  copies_ = std::make_shared<GpuCopies>(device_);
  source_ = std::make_unique<GpuSource>(view_, copies_);
}

std::shared_ptr<ImageSink> GpuImages::make_sink() {
  return std::make_shared<GpuSink>(array_, view_.maker, copies_, made_.emplace_back(std::make_shared<nb::object>()));
}

nb::list GpuImages::arrays() const {
  nb::list arrays;
  for (const std::shared_ptr<nb::object>& one : made_) arrays.append(*one);
  return arrays;
}

}  // namespace tenfold::python
