// A sweep on a GPU, done by the host, beside the same on CPUs: networks, sources and sinks for both.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/types/half.h"
#include "device/device_ensemble.h"
#include "sweep/device_run.h"
#include "sweep/host_work_for_tests.h"
#include "tenfold/error.h"

namespace tenfold::imaging::tests {

inline Tensor random_tensor(DType dtype, Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor tensor(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const unsigned value = random() % 200;
    const float real = static_cast<float>(value) / 100 - 1;
    switch (dtype) {
      case DType::u8: tensor.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(value); break;
      case DType::u16: tensor.mutable_data<std::uint16_t>()[i] = static_cast<std::uint16_t>(value * 300); break;
      case DType::f16: tensor.mutable_data<std::uint16_t>()[i] = float_to_half(real); break;
      default: tensor.mutable_data<float>()[i] = real;
    }
  }
  return tensor;
}

// y[c] = x[0] * mask[c], of each window, as f16 or f32; a second output is twice as fine along the last axis.
struct Masked {
  Tensor mask;
  DType dtype;
  bool two_outputs;

  std::vector<Tensor> operator()(const Tensor& windows) const {
    const std::int64_t batch = windows.shape()[0], of_window = windows.size() / batch,
                       roi = of_window / windows.shape()[1];
    Shape shape = windows.shape(), fine = windows.shape();
    shape[1] = mask.shape()[0], fine[1] = 1, fine.back() *= 2;
    Tensor y(dtype, shape), z(DType::f32, fine);
    for (std::int64_t i = 0; i < y.size(); ++i) {
      const float value =
          windows.data<float>()[i / mask.size() * of_window + i % roi] * mask.data<float>()[i % mask.size()];
      if (dtype == DType::f16) y.mutable_data<std::uint16_t>()[i] = float_to_half(value);
      else y.mutable_data<float>()[i] = value;
    }
    if (!two_outputs) return {y};
    for (std::int64_t i = 0; i < z.size(); ++i) {
      const std::int64_t at = i / 2;
      z.mutable_data<float>()[i] = windows.data<float>()[at / roi * of_window + at % roi] + static_cast<float>(i % (2 * roi) % 7);
    }
    return {y, z};
  }
};

// The same on the memory of HostWork, in its streams' time. Windows have the axes of the image, whatever the sweep's are.
class MaskedOnDevice final : public DevicePredictor {
 public:
  MaskedOnDevice(const SlidingWindow& windows, std::int64_t channels, std::int64_t batch, Masked masked, AxisOrder order = {})
      : masked_(std::move(masked)), order_(std::move(order)) {
    if (order_.empty()) order_ = axis_first(0, windows.roi().size());
    Shape shape = {batch, channels};
    shape.insert(shape.end(), windows.roi().begin(), windows.roi().end());
    windows_ = Tensor(DType::f32, shape);
    for (const Tensor& one : masked_(windows_)) {
      results_.push_back(one);
      const Shape window(one.shape().begin() + 1, one.shape().end());
      outputs_.push_back({one.raw(), one.dtype(), turned(window, order_), strides_in_order(window, order_)});
    }
  }
  std::int64_t batch() const override { return windows_.shape()[0]; }
  std::vector<Input> inputs() const override {
    return {{windows_.mutable_raw(), DType::f32, strides_in_order(windows_.shape(), order_), windows_.shape()[0]}};
  }
  const std::vector<Output>& outputs() const override { return outputs_; }
  void enqueue(void* stream) override {
    HostWork::enqueue(stream, [this] {
      const std::vector<Tensor> found = masked_(windows_);
      for (std::size_t i = 0; i < found.size(); ++i)
        std::memcpy(results_[i].mutable_raw(), found[i].raw(), static_cast<std::size_t>(found[i].bytes()));
    });
  }
  void finish() override {}

 private:
  Masked masked_;
  AxisOrder order_;
  mutable Tensor windows_;
  std::vector<Tensor> results_;
  std::vector<Output> outputs_;
};

enum class Where { planes, memory, gpu };   // a sink's

class Sink final : public ImageSink {
 public:
  explicit Sink(Where where) : where_(where) {}
  void open(DType dtype, const Shape& shape) override { image = Tensor(dtype, shape); }
  void write(std::int64_t number, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
             const void* from) override {
    const Shape strides = dense_strides(image.shape());
    Shape region = {image.shape()[1]};
    region.insert(region.end(), extent.begin(), extent.end());
    std::int64_t at = number * strides[0];
    for (std::size_t a = 0; a < begin.size(); ++a) at += begin[a] * strides[2 + a];
    const std::int64_t size = byte_size(image.dtype(), 1);
    copy_strided({static_cast<std::byte*>(const_cast<void*>(from)), dense_strides(region)},
                 {static_cast<std::byte*>(image.mutable_raw()) + at * size, Shape(strides.begin() + 1, strides.end())}, region, size);
  }
  void* memory() override { return where_ == Where::memory ? image.mutable_raw() : nullptr; }
  void* gpu_memory() override { return where_ == Where::gpu ? image.mutable_raw() : nullptr; }
  Tensor image;

 private:
  Where where_;
};

class Source final : public ImageSource {
 public:
  Source(Tensor images, std::int64_t chunk) : images_(std::move(images)), chunk_(chunk) {}
  Shape shape() const override { return images_.shape(); }
  DType dtype() const override { return images_.dtype(); }
  std::int64_t chunk() const override { return chunk_; }
  const void* memory() const override { return chunk_ == 0 ? images_.raw() : nullptr; }
  const void* gpu_memory() const override { return chunk_ < 0 ? images_.raw() : nullptr; }   // HostWork's
  void read(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
            void* to) override {
    const Shape strides = dense_strides(images_.shape());
    Shape region = {images_.shape()[1]};
    region.insert(region.end(), extent.begin(), extent.end());
    std::int64_t at = image * strides[0];
    for (std::size_t a = 0; a < begin.size(); ++a) at += begin[a] * strides[2 + a];
    const std::int64_t size = byte_size(images_.dtype(), 1);
    copy_strided({static_cast<std::byte*>(const_cast<void*>(images_.raw())) + at * size, Shape(strides.begin() + 1, strides.end())},
                 {static_cast<std::byte*>(to), dense_strides(region)}, region, size);
  }

 private:
  Tensor images_;
  std::int64_t chunk_;
};

struct Case {
  Shape image, roi;
  SlidingWindowOptions options;
  std::int64_t images = 1, channels = 1, classes = 3, batch = 2, chunk = 0;   // 0: in memory, -1: on the GPU
  DType source = DType::f32, results = DType::f32;
  StitchOptions stitch = {};
  bool two_outputs = false;
  SweepOptions sweep = {};   // axis, memory, parts
  int engines = 1;
};

inline SweepOptions options_of(const Case& c) {
  SweepOptions options = c.sweep;
  options.stitch = c.stitch, options.window_batch = c.batch;
  return options;
}

// Engine e gives what engine 0 gives with another mask.
inline std::vector<Masked> masked_of(const Case& c, const Shape& mask) {
  std::vector<Masked> all;
  for (int e = 0; e < c.engines; ++e)
    all.push_back({random_tensor(DType::f32, mask, 4 + static_cast<unsigned>(e)), c.results, c.two_outputs});
  return all;
}

inline std::vector<Tensor> on_device(const Case& c, const SlidingWindow& windows, const Tensor& images,
                                     const std::vector<Masked>& engines) {
  HostWork work;
  Source source(images, c.chunk);
  SweepOptions options = options_of(c);
  std::vector<std::unique_ptr<DevicePredictor>> members;
  for (const Masked& one : engines)
    members.push_back(std::make_unique<MaskedOnDevice>(windows, c.channels, c.batch, one, sweep_order(windows, options)));
  std::unique_ptr<DevicePredictor> predictor = std::move(members[0]);
  if (engines.size() > 1) members[0] = std::move(predictor), predictor = std::make_unique<DeviceEnsemble>(work, std::move(members));
  std::int64_t reported = 0, all = 0;
  options.progress = [&](std::int64_t done, std::int64_t total) { return reported = done, all = total, true; };
  std::vector<std::shared_ptr<Sink>> sinks;
  const Where where = c.chunk < 0 ? Where::gpu : c.chunk != 1 ? Where::memory : Where::planes;
  DeviceRun sweep(work, windows, source, *predictor, options);
  sweep.run([&](std::size_t) { return sinks.emplace_back(std::make_shared<Sink>(where)); });
  EXPECT_EQ(reported, all);
  std::vector<Tensor> outputs;
  for (const std::shared_ptr<Sink>& sink : sinks) outputs.push_back(sink->image);
  return outputs;
}

// Means as the host's ensemble adds them.
inline std::vector<Tensor> mean_of(const std::vector<Masked>& engines, const Tensor& batch) {
  std::vector<Tensor> sums = engines[0](batch);
  if (engines.size() == 1) return sums;
  for (Tensor& one : sums) {
    Tensor wide(DType::f32, one.shape());
    for (std::int64_t i = 0; i < one.size(); ++i) wide.mutable_data<float>()[i] = static_cast<float>(one.as_double(i));
    one = wide;
  }
  for (std::size_t e = 1; e < engines.size(); ++e) {
    const std::vector<Tensor> more = engines[e](batch);
    for (std::size_t o = 0; o < sums.size(); ++o)
      for (std::int64_t i = 0; i < sums[o].size(); ++i) sums[o].mutable_data<float>()[i] += static_cast<float>(more[o].as_double(i));
  }
  for (Tensor& one : sums)
    for (std::int64_t i = 0; i < one.size(); ++i) one.mutable_data<float>()[i] /= static_cast<float>(engines.size());
  return sums;
}

inline void compare(Case c) {
  c.options.roi = c.roi;
  const SlidingWindow windows(c.image, c.options);
  Shape shape = {c.images, c.channels}, mask = {c.classes};
  shape.insert(shape.end(), c.image.begin(), c.image.end());
  mask.insert(mask.end(), windows.roi().begin(), windows.roi().end());
  const Tensor images = random_tensor(c.source, shape, 3);
  const std::vector<Masked> engines = masked_of(c, mask);
  std::vector<std::shared_ptr<Sink>> sinks;
  Source source(images, 1);
  sweep(windows, source, [&](const Tensor& batch, std::int64_t) { return mean_of(engines, batch); },
        [&](std::size_t) { return sinks.emplace_back(std::make_shared<Sink>(Where::planes)); }, options_of(c));
  std::vector<Tensor> expected;
  for (const std::shared_ptr<Sink>& sink : sinks) expected.push_back(sink->image);
  const std::vector<Tensor> found = on_device(c, windows, images, engines);
  ASSERT_EQ(found.size(), expected.size());
  const bool exact = c.stitch.activation == OutputActivation::none;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].shape(), expected[i].shape());
    ASSERT_EQ(found[i].dtype(), expected[i].dtype());
    if (found[i].dtype() == DType::f32)
      for (std::int64_t v = 0; v < found[i].size(); ++v)
        ASSERT_NEAR(found[i].data<float>()[v], expected[i].data<float>()[v], exact ? 0 : 1e-6) << i << " at " << v;
    else EXPECT_EQ(std::memcmp(found[i].raw(), expected[i].raw(), static_cast<std::size_t>(found[i].bytes())), 0);
  }
}

inline SlidingWindowOptions gaussian(double overlap) { return {.overlap = {overlap}, .mode = WindowMode::gaussian}; }

}  // namespace tenfold::imaging::tests
