// Results on another grid beside a restatement in double, from the means that there are without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "sweep/random_tensor_for_tests.h"
#include "tenfold/error.h"
#include "tenfold/sliding_window.h"

namespace tenfold {
namespace {

// `classes` channels that depend on the place in the window.
WindowPredictor classes_by_place(std::int64_t classes) {
  return [classes](const Tensor& windows, std::int64_t) {
    Shape shape = windows.shape();
    shape[1] = classes;
    const std::int64_t roi = element_count(shape) / shape[0] / classes;
    Tensor y(DType::f32, shape);
    for (std::int64_t i = 0; i < y.size(); ++i)
      y.mutable_data<float>()[i] =
          windows.data<float>()[i / roi / classes * roi + i % roi] *
          static_cast<float>(std::sin(1.0 + static_cast<double>(i % (roi * classes) * 7 % 1013)));
    return std::vector<Tensor>{y};
  };
}

// One voxel of the grid: the mean over the corners around it, axis by axis. `at` is its place, of whose axes those from
// `axis` on are resampled still.
double voxel(const float* means, const Shape& from, const Shape& grid, const std::vector<GridInterpolation>& how,
             const Shape& at, std::size_t axis = 0, std::int64_t offset = 0) {
  if (axis == from.size()) return means[offset];
  const double scale = static_cast<double>(from[axis]) / static_cast<double>(grid[axis]);
  const double center = (static_cast<double>(at[axis]) + 0.5) * scale;
  const auto next = [&](std::int64_t index) {
    return voxel(means, from, grid, how, at, axis + 1, offset * from[axis] + index);
  };
  if (how[how.size() == 1 ? 0 : axis] == GridInterpolation::nearest) return next(static_cast<std::int64_t>(center));
  const double place = std::clamp(center - 0.5, 0.0, static_cast<double>(from[axis] - 1));
  const auto low = static_cast<std::int64_t>(place);
  const double weight = place - static_cast<double>(low);
  return weight == 0 ? next(low) : next(low) * (1 - weight) + next(low + 1) * weight;
}

struct Case {
  Shape image, roi, grid;
  std::vector<GridInterpolation> interpolation = {GridInterpolation::linear};
  std::int64_t images = 1;
};
constexpr auto kNearest = GridInterpolation::nearest, kLinear = GridInterpolation::linear;

const Case kCases[] = {{{17}, {5}, {40}, {kLinear}, 2},
                       {{9, 11}, {4, 5}, {20, 7}, {kLinear}, 2},
                       {{6, 7, 8}, {3, 4, 5}, {15, 9, 31}},
                       {{6, 7, 8}, {3, 4, 5}, {6, 7, 8}},
                       {{12, 9, 70}, {5, 4, 40}, {5, 70, 13}, {kNearest, kLinear, kLinear}},
                       {{6, 7, 8}, {8, 4, 10}, {13, 3, 9}, {kLinear, kNearest, kNearest}},   // padded
                       {{4, 5, 3, 6}, {2, 3, 3, 4}, {7, 6, 8, 150}, {kLinear}, 2},
                       {{3, 1, 1, 2}, {2, 1, 1, 2}, {1, 4, 3, 2}}};

Shape shape_of(std::int64_t images, std::int64_t channels, const Shape& spatial) {
  Shape shape = {images, channels};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  return shape;
}

TEST(Grid, AsEveryVoxelByItself) {
  for (const Case& one : kCases) {
    const SlidingWindow windows(one.image, {.roi = one.roi, .overlap = {0.5}, .mode = WindowMode::gaussian});
    const Tensor images = random_tensor(shape_of(one.images, 1, one.image), 1);
    const Tensor means = infer(windows, images, classes_by_place(3))[0];
    const SweepOptions options{.stitch = {.threads = 2, .grid = one.grid, .interpolation = one.interpolation}};
    const Tensor y = infer(windows, images, classes_by_place(3), options)[0];
    ASSERT_EQ(y.shape(), shape_of(one.images, 3, one.grid));
    const std::int64_t voxels = element_count(one.grid), sources = element_count(one.image);
    for (std::int64_t i = 0; i < y.size(); ++i) {
      Shape at(one.grid.size());
      for (std::int64_t a = static_cast<std::int64_t>(at.size()) - 1, rest = i % voxels; a >= 0; --a) {
        at[static_cast<std::size_t>(a)] = rest % one.grid[static_cast<std::size_t>(a)];
        rest /= one.grid[static_cast<std::size_t>(a)];
      }
      const double expected =
          voxel(means.data<float>() + i / voxels * sources, one.image, one.grid, one.interpolation, at);
      ASSERT_NEAR(y.data<float>()[i], expected, 1e-6) << text(one.grid) << ' ' << i;
    }
  }
}

// [image, channel, planes, ...] as planes arrive.
class Planes final : public ImageSink {
 public:
  void open(DType dtype, const Shape& shape) override { images = Tensor(dtype, shape); }
  void write(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
             const void* from) override {
    const Shape& shape = images.shape();
    const std::int64_t section = element_count(extent) / extent[0], bytes = byte_size(images.dtype(), section);
    for (std::int64_t c = 0; c < shape[1]; ++c)
      std::memcpy(
          static_cast<std::byte*>(images.mutable_raw()) + ((image * shape[1] + c) * shape[2] + begin[0]) * bytes,
          static_cast<const std::byte*>(from) + c * extent[0] * bytes, static_cast<std::size_t>(extent[0] * bytes));
    if (shape.size() > 3) {
      EXPECT_EQ(begin[0], next % shape[2]);
      next += extent[0];
    }
  }
  Tensor images;
  std::int64_t next = 0;
};

// Whatever threads and sinks there are, and though labels are found without the values being stored.
TEST(Grid, LabelsAreThoseOfTheValues) {
  for (const Case& one : kCases)
    for (const std::int64_t classes : {1, 5, 300}) {
      if (classes == 300 && one.image.size() != 2) continue;
      const SlidingWindow windows(one.image, {.roi = one.roi, .overlap = {0.5}});
      const Tensor images = random_tensor(shape_of(one.images, 1, one.image), 2);
      StitchOptions stitch{.threads = 1, .grid = one.grid, .interpolation = one.interpolation};
      const Tensor values = infer(windows, images, classes_by_place(classes), {.stitch = stitch})[0];
      stitch.reduction = OutputReduction::argmax, stitch.threads = 3;
      const auto sink = std::make_shared<Planes>();
      const auto go = [&](const WindowPredictor& predict) {
        WindowStitcher stitcher(windows, one.images, [&](std::size_t) { return sink; }, stitch);
        for (std::int64_t w = 0; w < one.images * windows.count(); ++w) {
          Tensor window(DType::f32, shape_of(1, 1, windows.roi()));
          windows.cut(images, w, 1, DType::f32, window.mutable_raw());
          stitcher.add(predict(window, w));
        }
        stitcher.finish();
      };
      go(classes_by_place(classes));
      const std::int64_t voxels = element_count(one.grid);
      ASSERT_EQ(sink->images.size(), one.images * voxels);
      for (std::int64_t i = 0; i < sink->images.size(); ++i) {
        const float* const of = values.data<float>() + i / voxels * classes * voxels + i % voxels;
        std::int64_t best = 0;
        for (std::int64_t c = 1; c < classes; ++c) best = of[c * voxels] > of[best * voxels] ? c : best;
        const std::int64_t found =
            classes > 256 ? sink->images.data<std::uint16_t>()[i] : sink->images.data<std::uint8_t>()[i];
        ASSERT_EQ(found, best) << text(one.grid) << ' ' << i;
      }
    }
}

TEST(Grid, ActivationsFollow) {
  const SlidingWindow windows({6, 7, 8}, {.roi = {3, 4, 5}, .overlap = {0.5}});
  const Tensor images = random_tensor({1, 1, 6, 7, 8}, 3);
  StitchOptions stitch{.grid = {9, 9, 9}};
  const Tensor values = infer(windows, images, classes_by_place(4), {.stitch = stitch})[0];
  stitch.activation = OutputActivation::sigmoid, stitch.reduction = OutputReduction::threshold, stitch.threshold = 0.6;
  const Tensor labels = infer(windows, images, classes_by_place(4), {.stitch = stitch})[0];
  for (std::int64_t i = 0; i < labels.size(); ++i)
    ASSERT_EQ(labels.data<std::uint8_t>()[i], 1 / (1 + std::exp(-values.data<float>()[i])) >= 0.6f) << i;
}

TEST(Grid, WhatGoesWrongIsNamed) {
  const SlidingWindow windows({8, 8}, {.roi = {4}});
  const auto message = [&](const StitchOptions& stitch) {
    try {
      infer(windows, random_tensor({1, 1, 8, 8}, 5), classes_by_place(1), {.stitch = stitch});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message({.grid = {8}}).find("grid [8]: expected 2 extents of at least 1"), std::string::npos);
  EXPECT_NE(message({.grid = {8, 0}}).find("grid [8x0]: expected 2 extents"), std::string::npos);
  EXPECT_NE(message({.grid = {8, 9}, .interpolation = {kLinear, kLinear, kLinear}}).find("interpolation has 3 values"),
            std::string::npos);
}

}  // namespace
}  // namespace tenfold
