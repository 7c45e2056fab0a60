// A source and sinks that several sweeps share, each in its thread.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tenfold/sliding_window.h"

namespace tenfold::imaging {

class SharedSource final : public ImageSource {
 public:
  // `on_gpu`: all sweeps are on the GPU where the source may lie.
  SharedSource(ImageSource& source, bool on_gpu) : source_(source), on_gpu_(on_gpu) {}
  Shape shape() const override { return source_.shape(); }
  DType dtype() const override { return source_.dtype(); }
  void read(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
            void* to) override {
    const std::lock_guard lock(mutex_);
    source_.read(image, begin, extent, to);
  }
  std::int64_t chunk() const override { return source_.chunk(); }
  std::int64_t chunk_along(std::size_t axis) const override { return source_.chunk_along(axis); }
  double overhead() const override { return source_.overhead(); }
  const void* memory() const override { return source_.memory(); }
  const void* gpu_memory() const override { return on_gpu_ ? source_.gpu_memory() : nullptr; }

 private:
  ImageSource& source_;
  bool on_gpu_;
  std::mutex mutex_;
};

class LockedSinks {
 public:
  LockedSinks(const MakeSink& make, bool on_gpu) : make_(make), on_gpu_(on_gpu) {}
  std::shared_ptr<ImageSink> sink(std::size_t output) {
    const std::lock_guard lock(mutex_);
    while (sinks_.size() <= output) sinks_.push_back(std::make_shared<One>(*this, make_(sinks_.size())));
    return sinks_[output];
  }

 private:
  class One final : public ImageSink {
   public:
    One(LockedSinks& all, std::shared_ptr<ImageSink> sink) : all_(all), sink_(std::move(sink)) {}
    void open(DType dtype, const Shape& shape) override {
      const std::lock_guard lock(all_.mutex_);
      if (!std::exchange(opened_, true)) sink_->open(dtype, shape);
    }
    void write(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
               const void* from) override {
      const std::lock_guard lock(all_.mutex_);
      sink_->write(image, begin, extent, from);
    }
    void* memory() override {
      const std::lock_guard lock(all_.mutex_);
      return sink_->memory();
    }
    void* gpu_memory() override {
      const std::lock_guard lock(all_.mutex_);
      return all_.on_gpu_ ? sink_->gpu_memory() : nullptr;
    }

   private:
    LockedSinks& all_;
    std::shared_ptr<ImageSink> sink_;
    bool opened_ = false;
  };
  const MakeSink& make_;
  bool on_gpu_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<One>> sinks_;
};

}  // namespace tenfold::imaging
