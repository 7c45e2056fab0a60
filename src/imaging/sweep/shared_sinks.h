// Sinks that all bands of a sweep share: the first band opens them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "tenfold/sliding_window.h"

namespace tenfold::imaging {

class SharedSinks {
 public:
  explicit SharedSinks(const MakeSink& make) : make_(make) {}
  std::shared_ptr<ImageSink> sink(std::size_t output) {
    if (output == sinks_.size()) sinks_.push_back(std::make_shared<OpenedOnce>(make_(output)));
    return sinks_[output];
  }

 private:
  class OpenedOnce final : public ImageSink {
   public:
    explicit OpenedOnce(std::shared_ptr<ImageSink> sink) : sink_(std::move(sink)) {}
    void open(DType dtype, const Shape& shape) override {
      if (!std::exchange(opened_, true)) sink_->open(dtype, shape);
    }
    void write(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
               const void* from) override {
      sink_->write(image, begin, extent, from);
    }
    void* memory() override { return sink_->memory(); }

   private:
    std::shared_ptr<ImageSink> sink_;
    bool opened_ = false;
  };
  const MakeSink& make_;
  std::vector<std::shared_ptr<OpenedOnce>> sinks_;
};

}  // namespace tenfold::imaging
