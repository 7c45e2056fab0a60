// Images in memory, as sources and sinks.
#pragma once

#include "tenfold/sliding_window.h"

namespace tenfold::imaging {

class MemorySource final : public ImageSource {
 public:
  explicit MemorySource(Tensor images) : images_(std::move(images)) {}
  Shape shape() const override { return images_.shape(); }
  DType dtype() const override { return images_.dtype(); }
  void read(std::int64_t, std::span<const std::int64_t>, std::span<const std::int64_t>, void*) override {
  }  // memory() is there
  const void* memory() const override { return images_.raw(); }

 private:
  Tensor images_;
};

class MemorySink final : public ImageSink {
 public:
  void open(DType dtype, const Shape& shape) override { images_ = Tensor(dtype, shape); }
  void write(std::int64_t, std::span<const std::int64_t>, std::span<const std::int64_t>, const void*) override {
  }  // likewise
  void* memory() override { return images_.mutable_raw(); }
  Tensor images() const { return images_; }

 private:
  Tensor images_;
};

}  // namespace tenfold::imaging
