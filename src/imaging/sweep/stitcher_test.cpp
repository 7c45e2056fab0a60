// Stored predictions to WindowStitcher: the same bits whatever a call has of them, and wherever results go.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>

#include "tenfold/sliding_window.h"

namespace tenfold {
namespace {

class MemorySink final : public ImageSink {
 public:
  void open(DType dtype, const Shape& shape) override { images = Tensor(dtype, shape); }
  void write(std::int64_t, std::span<const std::int64_t>, std::span<const std::int64_t>, const void*) override {}
  void* memory() override { return images.mutable_raw(); }
  Tensor images;
};

// Whole planes, which are copied: sums lie in the stitcher's own memory.
class CopySink final : public ImageSink {
 public:
  void open(DType dtype, const Shape& shape) override { images = Tensor(dtype, shape); }
  void write(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
             const void* from) override {
    const Shape& shape = images.shape();
    const std::int64_t plane = element_count(shape) / shape[0] / shape[1] / shape[2], count = extent[0] * plane;
    for (std::int64_t c = 0; c < shape[1]; ++c)
      std::memcpy(images.mutable_data<float>() + ((image * shape[1] + c) * shape[2] + begin[0]) * plane,
                  static_cast<const float*>(from) + c * count, static_cast<std::size_t>(count) * sizeof(float));
  }
  Tensor images;
};

// [window, channel, roi...], of values that f32 and f64 both have.
Tensor predictions(const SlidingWindow& windows, std::int64_t images, std::int64_t channels, DType dtype) {
  Shape shape = {images * windows.count(), channels};
  shape.insert(shape.end(), windows.roi().begin(), windows.roi().end());
  Tensor tensor(dtype, shape);
  std::mt19937 random(7);
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const float value = static_cast<float>(random()) * 0x1p-32f - 0.5f;
    if (dtype == DType::f64) tensor.mutable_data<double>()[i] = static_cast<double>(value);
    else tensor.mutable_data<float>()[i] = value;
  }
  return tensor;
}

template <class Sink>
Tensor stitched(const SlidingWindow& windows, std::int64_t images, const Tensor& stored, std::int64_t a_call,
                int threads) {
  const auto sink = std::make_shared<Sink>();
  WindowStitcher stitcher(windows, images, [&](std::size_t) { return sink; }, {.threads = threads});
  const std::int64_t total = stored.shape()[0], bytes = stored.bytes() / total;
  for (std::int64_t first = 0; first < total; first += a_call) {
    Shape shape = stored.shape();
    shape[0] = std::min(a_call, total - first);
    const Tensor some(stored.dtype(), shape, std::make_shared<int>(),
                      static_cast<const std::byte*>(stored.raw()) + first * bytes);
    stitcher.add({&some, 1});
  }
  stitcher.finish();
  return sink->images;
}

void expect_same_bits(const SlidingWindow& windows, std::int64_t images, std::int64_t channels) {
  const Tensor stored = predictions(windows, images, channels, DType::f32);
  const Tensor doubles = predictions(windows, images, channels, DType::f64);
  const Tensor one = stitched<CopySink>(windows, images, stored, 1, 1);
  const auto same = [&](const Tensor& other) {
    return std::memcmp(one.raw(), other.raw(), static_cast<std::size_t>(one.bytes())) == 0;
  };
  for (const std::int64_t a_call : {std::int64_t{1}, std::int64_t{4}, std::int64_t{7}, windows.count() * images})
    for (const int threads : {1, 2}) {
      EXPECT_TRUE(same(stitched<MemorySink>(windows, images, stored, a_call, threads))) << a_call << ' ' << threads;
      EXPECT_TRUE(same(stitched<CopySink>(windows, images, stored, a_call, threads))) << a_call << ' ' << threads;
      EXPECT_TRUE(same(stitched<MemorySink>(windows, images, doubles, a_call, threads))) << a_call << ' ' << threads;
    }
}

TEST(WindowStitcher, TheSameBitsForAnyCalls) {
  for (const double overlap : {0.0, 0.25, 0.5, 0.6})   // beyond a half, more than two windows share a plane
    expect_same_bits(SlidingWindow({13, 21, 26}, {.roi = {6, 8, 9}, .overlap = {overlap}, .mode = WindowMode::gaussian}),
                     2, 3);
  expect_same_bits(SlidingWindow({40, 70}, {.roi = {16, 20}, .overlap = {0.25}, .mode = WindowMode::halo, .halo = {2}}),
                   1, 2);
  expect_same_bits(SlidingWindow({5, 6, 11, 9}, {.roi = {3, 4, 6, 5}, .mode = WindowMode::gaussian}), 1, 1);
  expect_same_bits(SlidingWindow({37}, {.roi = {9}, .overlap = {0.5}}), 2, 2);
}

// Rows that are written past the caches: of whole lines, and such whose ends share a line with the next row.
TEST(WindowStitcher, TheSameBitsInLargeOutputs) {
  expect_same_bits(SlidingWindow({40, 256, 256}, {.roi = {24, 80, 64}, .overlap = {0.5}, .mode = WindowMode::gaussian}),
                   1, 1);
  expect_same_bits(SlidingWindow({40, 256, 257}, {.roi = {24, 80, 70}, .overlap = {0.5}, .mode = WindowMode::gaussian}),
                   1, 1);
}

}  // namespace
}  // namespace tenfold
