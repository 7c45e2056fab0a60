// sweep() and infer() beside a restatement in double: predictors depend on the place in the window.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <cmath>
#include <random>

#include "tenfold/sliding_window.h"
#include "sweep/random_tensor_for_tests.h"
#include "tenfold/error.h"

namespace tenfold {
namespace {

struct Case {
  Shape image, roi;
  SlidingWindowOptions options;
  std::int64_t images = 1, channels = 1;
};

// Of each window, the first channel times a mask, for as many channels as the mask has.
WindowPredictor mask_by(const Tensor& mask) {
  return [mask](const Tensor& windows, std::int64_t) {
    const std::int64_t batch = windows.shape()[0], of_window = windows.size() / batch,
                       roi = of_window / windows.shape()[1];
    Shape shape = windows.shape();
    shape[1] = mask.shape()[0];
    Tensor y(DType::f32, shape);
    for (std::int64_t i = 0; i < y.size(); ++i)
      y.mutable_data<float>()[i] =
          windows.data<float>()[i / mask.size() * of_window + i % roi] * mask.data<float>()[i % mask.size()];
    return std::vector<Tensor>{y};
  };
}

// Every voxel by itself: the windows that cover it, in double. Images are not padded.
double expected_at(const SlidingWindow& windows, const Tensor& images, const Tensor& mask, std::int64_t image,
                   std::int64_t channel, const Shape& voxel) {
  std::int64_t from = image * images.shape()[1];
  for (std::size_t a = 0; a < voxel.size(); ++a) from = from * windows.image()[a] + voxel[a];
  double sum = 0, weights = 0;
  const Tensor map = windows.weights();
  for (std::int64_t w = 0; w < windows.count(); ++w) {
    const Shape place = windows.place(w);
    std::int64_t at = 0;
    bool inside = true;
    for (std::size_t a = 0; a < voxel.size(); ++a) {
      inside = inside && voxel[a] >= place[a] && voxel[a] < place[a] + windows.roi()[a];
      at = at * windows.roi()[a] + voxel[a] - place[a];
    }
    if (!inside) continue;
    const double weight = map.data<float>()[at];
    sum += weight * mask.data<float>()[channel * map.size() + at] * images.data<float>()[from], weights += weight;
  }
  return sum / weights;
}

TEST(Sweep, AsEveryVoxelByItself) {
  const Case cases[] = {{{17}, {5}, {.overlap = {0.6}}, 2, 3}, {{9, 11}, {4, 5}, {.mode = WindowMode::gaussian}, 1, 2},
                        {{6, 7, 8}, {3, 4, 5}, {.overlap = {0.5}, .mode = WindowMode::gaussian}, 2, 1},
                        {{4, 5, 3, 6}, {2, 3, 3, 4}, {.overlap = {0.3}, .placement = WindowPlacement::even}, 1, 1}};
  for (const Case& one : cases) {
    SlidingWindowOptions options = one.options;
    options.roi = one.roi;
    const SlidingWindow windows(one.image, options);
    Shape shape = {one.images, one.channels}, mask_shape = {2};
    shape.insert(shape.end(), one.image.begin(), one.image.end()),
        mask_shape.insert(mask_shape.end(), one.roi.begin(), one.roi.end());
    const Tensor images = random_tensor(shape, 1), mask = random_tensor(mask_shape, 2);
    const Tensor y = infer(windows, images, mask_by(mask), {.window_batch = 3})[0];
    const std::int64_t voxels = element_count(one.image);
    ASSERT_EQ(y.size(), one.images * 2 * voxels);
    for (std::int64_t i = 0; i < y.size(); ++i) {
      Shape voxel(one.image.size());
      for (std::size_t a = voxel.size(), rest = static_cast<std::size_t>(i % voxels); a-- > 0;) {
        voxel[a] = static_cast<std::int64_t>(rest) % one.image[a];
        rest /= static_cast<std::size_t>(one.image[a]);
      }
      ASSERT_NEAR(y.data<float>()[i], expected_at(windows, images, mask, i / voxels / 2, i / voxels % 2, voxel), 1e-6);
    }
  }
}

// Planes as a file would give them; counts how often each is asked for.
class PlaneSource final : public ImageSource {
 public:
  PlaneSource(Tensor images, std::int64_t chunk)
      : asked(static_cast<std::size_t>(images.shape()[2])), images_(std::move(images)), chunk_(chunk) {}
  Shape shape() const override { return images_.shape(); }
  DType dtype() const override { return images_.dtype(); }
  std::int64_t chunk() const override { return chunk_; }
  void read(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
            void* to) override {
    const std::int64_t section = images_.shape()[3] * images_.shape()[4], planes = images_.shape()[2];
    auto* out = static_cast<float*>(to);
    for (std::int64_t c = 0; c < images_.shape()[1]; ++c) {
      const float* const from =
          images_.data<float>() + ((image * images_.shape()[1] + c) * planes + begin[0]) * section;
      out = std::copy_n(from, extent[0] * section, out);
    }
    for (std::int64_t z = begin[0]; z < begin[0] + extent[0]; ++z) ++asked[static_cast<std::size_t>(z)];
    largest = std::max(largest, extent[0]);
  }
  std::vector<int> asked;
  std::int64_t largest = 0;

 private:
  Tensor images_;
  std::int64_t chunk_;
};

class PlaneSink final : public ImageSink {
 public:
  void open(DType dtype, const Shape& shape) override { images = Tensor(dtype, shape); }
  void write(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
             const void* from) override {
    EXPECT_EQ(begin[0], next % images.shape()[2]);
    const std::int64_t section = images.shape()[3] * images.shape()[4];
    for (std::int64_t c = 0; c < images.shape()[1]; ++c)
      std::copy_n(
          static_cast<const float*>(from) + c * extent[0] * section, extent[0] * section,
          images.mutable_data<float>() + ((image * images.shape()[1] + c) * images.shape()[2] + begin[0]) * section);
    next += extent[0];
    largest = std::max(largest, extent[0]);
  }
  Tensor images;
  std::int64_t next = 0, largest = 0;
};

TEST(Sweep, PlanesAreAskedForOnceAndGiveTheBitsOfMemory) {
  const SlidingWindow windows({23, 9, 10}, {.roi = {6, 4, 5}, .overlap = {0.5}, .mode = WindowMode::gaussian});
  const Tensor images = random_tensor({2, 2, 23, 9, 10}, 3), mask = random_tensor({3, 6, 4, 5}, 4);
  const Tensor expected = infer(windows, images, mask_by(mask), {.stitch = {.threads = 1}, .window_batch = 1})[0];
  for (const std::int64_t chunk : {1, 4, 50})
    for (const int threads : {1, 2, 8}) {
      PlaneSource source(images, chunk);
      const auto sink = std::make_shared<PlaneSink>();
      sweep(windows, source, mask_by(mask), [&](std::size_t) { return sink; },
            {.stitch = {.threads = threads}, .window_batch = threads + 2});
      EXPECT_EQ(source.asked, std::vector<int>(23, 2)) << chunk;   // of two images
      EXPECT_EQ(source.largest, std::min<std::int64_t>(chunk, 23));
      EXPECT_EQ(sink->next, 46);
      EXPECT_LE(sink->largest, 6);
      ASSERT_TRUE(
          std::equal(sink->images.data<float>(), sink->images.data<float>() + expected.size(), expected.data<float>()));
    }
}

// Planes of nothing, from nowhere to nowhere: what grows is the sweep's own.
class EmptySource final : public ImageSource {
 public:
  explicit EmptySource(std::int64_t planes) : shape_{1, 1, planes, 256, 256} {}
  Shape shape() const override { return shape_; }
  DType dtype() const override { return DType::u8; }
  void read(std::int64_t, std::span<const std::int64_t>, std::span<const std::int64_t> extent, void* to) override {
    std::fill_n(static_cast<std::uint8_t*>(to), element_count(extent), std::uint8_t{1});
  }

 private:
  Shape shape_;
};
class EmptySink final : public ImageSink {
 public:
  void open(DType, const Shape&) override {}
  void write(std::int64_t, std::span<const std::int64_t>, std::span<const std::int64_t>, const void*) override {}
};

// The process' peak so far, in bytes.
std::int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

TEST(Sweep, MemoryDoesNotGrowWithTheLength) {
#ifdef TENFOLD_SANITIZED
  GTEST_SKIP() << "a sanitizer keeps what was freed";
#endif
  const auto go = [](std::int64_t planes) {
    const SlidingWindow windows({planes, 256, 256}, {.roi = {16, 128, 128}, .overlap = {0.25}});
    EmptySource source(planes);
    const Tensor answer(DType::f32, {1, 4, 16, 128, 128});
    sweep(windows, source, [&](const Tensor&, std::int64_t) { return std::vector<Tensor>{answer}; },
          [](std::size_t) { return std::make_shared<EmptySink>(); },
          {.stitch = {.reduction = OutputReduction::argmax, .threads = 1}, .window_batch = 1});
  };
  go(64);
  const std::int64_t before = peak_memory();
  go(192);   // whose image has 8 MiB more, and whose means 128 MiB
  EXPECT_LT(peak_memory() - before, 4 << 20);
}

TEST(Sweep, WhatGoesWrongIsNamed) {
  const SlidingWindow windows({8, 8}, {.roi = {4}, .overlap = {0}});
  const Tensor images = random_tensor({1, 1, 8, 8}, 5);
  const auto message = [&](const WindowPredictor& predict, const SweepOptions& options) {
    try {
      infer(windows, images, predict, options);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const WindowPredictor first_row = [](const Tensor&, std::int64_t) {
    return std::vector<Tensor>{random_tensor({1, 1, 4, 4}, 6)};
  };
  EXPECT_NE(message(first_row, {.window_batch = 2}).find("for 2 windows: expected that many along axis 0"),
            std::string::npos);
  EXPECT_NE(message(first_row, {.window_batch = 0}).find("window_batch 0: expected at least 1"), std::string::npos);
  EXPECT_NE(message(first_row, {.window_batch = 1, .progress = [](std::int64_t, std::int64_t) { return false; }})
                .find("stopped the sweep after 1 of 4"),
            std::string::npos);
}

}  // namespace
}  // namespace tenfold
