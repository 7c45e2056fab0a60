// A sweep along another axis: windows, source, predictor and sinks whose axes are in the order of the sweep.
#pragma once

#include <memory>
#include <vector>

#include "sweep/move_axes.h"
#include "sweep/predictor.h"
#include "windows/window_state.h"

namespace tenfold::imaging {

// `options.axis` first. Throws invalid_argument where the image has no such axis.
AxisOrder sweep_order(const SlidingWindow& windows, const SweepOptions& options);
SlidingWindow turned(const SlidingWindow& windows, const AxisOrder& order);
SweepOptions turned(const SweepOptions& options, const AxisOrder& order);   // whose axis is 0
Shape turned(const Shape& shape, const AxisOrder& order);                   // [..., spatial...]

class TurnedSource final : public ImageSource {
 public:
  TurnedSource(ImageSource& source, AxisOrder order) : source_(source), order_(std::move(order)) {}
  Shape shape() const override { return turned(source_.shape(), order_); }
  DType dtype() const override { return source_.dtype(); }
  std::int64_t chunk() const override { return source_.memory() != nullptr ? 1 : source_.chunk_along(order_[0]); }
  double overhead() const override { return source_.overhead() + 1; }
  void read(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
            void* to) override;

 private:
  ImageSource& source_;
  AxisOrder order_;
  std::vector<std::byte> region_;
};

class TurnedSink final : public ImageSink {
 public:
  TurnedSink(std::shared_ptr<ImageSink> sink, const AxisOrder& order) : sink_(std::move(sink)), back_(inverse(order)) {}
  void open(DType dtype, const Shape& shape) override;
  void write(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
             const void* from) override;

 private:
  std::shared_ptr<ImageSink> sink_;
  AxisOrder back_;
  Shape shape_;                      // of the sink
  std::int64_t size_ = 1;            // of an element
  std::vector<std::byte> region_;
};

class TurnedPredictor final : public Predictor {
 public:
  // `window`: [channel, roi...] as the sweep has it.
  TurnedPredictor(Predictor& predictor, const AxisOrder& order, Shape window, Parallel& parallel);
  std::int64_t batch() const override { return predictor_.batch(); }
  DType dtype() const override { return predictor_.dtype(); }
  void* windows() override { return windows_.mutable_raw(); }
  std::vector<Tensor> run(std::int64_t count, std::int64_t first) override;

 private:
  Predictor& predictor_;
  AxisOrder order_, back_;
  Tensor windows_;
  std::vector<Tensor> outputs_;
  Parallel& parallel_;
};

}  // namespace tenfold::imaging
