// Sweeps along other axes beside the one along the first: the same but for the order of sums, and where every sum has
// one order, the same bits.
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

// Two channels that depend on the place in the window, and one of half the resolution.
WindowPredictor by_place(const Shape& roi) {
  const std::int64_t voxels = element_count(roi);
  return [roi, voxels](const Tensor& windows, std::int64_t) {
    Shape two = windows.shape(), half = windows.shape();
    two[1] = 2, half[1] = 1;
    for (std::size_t a = 0; a < roi.size(); ++a) half[2 + a] = roi[a] / 2;
    Tensor y(DType::f32, two), small(DType::f32, half);
    for (std::int64_t i = 0; i < y.size(); ++i)
      y.mutable_data<float>()[i] = windows.data<float>()[i / (2 * voxels) * voxels + i % voxels] *
                                   static_cast<float>(std::cos(static_cast<double>(i % (2 * voxels))));
    const std::int64_t quarter = small.size() / windows.shape()[0];
    for (std::int64_t i = 0; i < small.size(); ++i)
      small.mutable_data<float>()[i] =
          windows.data<float>()[i / quarter * voxels + i % quarter] + static_cast<float>(i % quarter);
    return std::vector<Tensor>{y, small};
  };
}

// Whatever region it is asked for, of an array in memory that it does not show.
class Regions final : public ImageSource, public ImageSink {
 public:
  Regions() = default;
  explicit Regions(Tensor images) : images(std::move(images)) {}
  Shape shape() const override { return images.shape(); }
  DType dtype() const override { return images.dtype(); }
  std::int64_t chunk() const override { return 3; }
  std::int64_t chunk_along(std::size_t axis) const override { return static_cast<std::int64_t>(axis) + 2; }
  void read(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
            void* to) override {
    asked.emplace_back(extent.begin(), extent.end());
    each(image, begin, extent, [&](std::int64_t i, std::byte* at, std::size_t size) {
      std::memcpy(static_cast<std::byte*>(to) + i * static_cast<std::int64_t>(size), at, size);
    });
  }
  void open(DType dtype, const Shape& shape) override { images = Tensor(dtype, shape); }
  void write(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
             const void* from) override {
    each(image, begin, extent, [&](std::int64_t i, std::byte* at, std::size_t size) {
      std::memcpy(at, static_cast<const std::byte*>(from) + i * static_cast<std::int64_t>(size), size);
    });
  }
  const void* memory() const override { return nullptr; }
  void* memory() override { return nullptr; }
  Tensor images;
  std::vector<Shape> asked;

 private:
  template <class Use>
  void each(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent, Use use) {
    const Shape& shape = images.shape();
    const std::int64_t count = element_count(extent), size = byte_size(images.dtype(), 1);
    for (std::int64_t i = 0; i < shape[1] * count; ++i) {
      std::int64_t at = 0, scale = 1, rest = i % count;
      for (std::size_t a = extent.size(); a-- > 0; rest /= extent[a], scale *= shape[2 + a])
        at += (begin[a] + rest % extent[a]) * scale;
      at += (image * shape[1] + i / count) * scale;
      use(i, static_cast<std::byte*>(images.mutable_raw()) + at * size, static_cast<std::size_t>(size));
    }
  }
};

struct Case {
  Shape image;
  SlidingWindowOptions windows;
  StitchOptions stitch = {};
};
const Case kCases[] = {
    {{20, 13}, {.roi = {6, 4}, .overlap = {0.5}, .mode = WindowMode::gaussian}},
    {{9, 20, 14}, {.roi = {4, 6, 8}, .overlap = {0.5, 0.3, 0.6}, .mode = WindowMode::gaussian}},
    {{9, 20, 14}, {.roi = {4, 6, 8}, .mode = WindowMode::halo, .halo = {0, 2, 2}}},
    {{3, 20, 14}, {.roi = {4, 6, 20}, .padding = WindowPadding::reflect}},
    {{9, 20, 14},
     {.roi = {4, 6, 8}, .overlap = {0.5}},
     {.grid = {5, 31, 20},
      .interpolation = {GridInterpolation::nearest, GridInterpolation::linear, GridInterpolation::linear}}},
    {{5, 6, 7, 8}, {.roi = {2, 4, 4, 6}, .overlap = {0.5}}}};

// The least memory for all sources and sinks of a sweep.
std::int64_t least_memory(const SlidingWindow& windows, Regions& source, SweepOptions options) {
  options.memory = 1;
  const Shape roi = windows.roi();
  std::vector<Shape> outputs = {{2}, {1}};
  for (const std::int64_t extent : roi) outputs[0].push_back(extent), outputs[1].push_back(extent / 2);
  try {
    sweep_bands(windows, source, outputs, options);
  } catch (const Error& e) {
    const std::string message = e.what();
    return std::stoll(message.substr(message.find("expected at least ") + 18));
  }
  return 0;
}

TEST(Turned, OthersGiveTheSame) {
  for (const Case& one : kCases) {
    const SlidingWindow windows(one.image, one.windows);
    Shape shape = {2, 1};
    shape.insert(shape.end(), one.image.begin(), one.image.end());
    const Tensor images = random_tensor(shape, 7);
    SweepOptions options{.stitch = one.stitch, .window_batch = 3};
    const std::vector<Tensor> expected = infer(windows, images, by_place(windows.roi()), options);
    for (int axis = 1; axis < static_cast<int>(one.image.size()); ++axis)
      for (const bool bounded : {false, true}) {
        Regions source(images);
        options.axis = axis, options.memory = 0;
        if (bounded) options.memory = least_memory(windows, source, options);
        std::string reported;
        options.log = [&](Severity, std::string_view text) { reported += text; };
        const std::vector<Tensor> found = infer(windows, images, by_place(windows.roi()), options);
        std::vector<std::shared_ptr<Regions>> sinks;
        sweep(windows, source, by_place(windows.roi()),
              [&](std::size_t) { return sinks.emplace_back(std::make_shared<Regions>()); }, options);
        ASSERT_EQ(found.size(), 2u);
        if (one.image[0] > 3 || !bounded) { EXPECT_EQ(reported.find("bands") != std::string::npos, bounded); }
        for (std::size_t i = 0; i < 2; ++i) {
          ASSERT_EQ(found[i].shape(), expected[i].shape());
          ASSERT_EQ(std::memcmp(found[i].raw(), sinks[i]->images.raw(), static_cast<std::size_t>(found[i].bytes())), 0);
          const float largest =
              *std::max_element(expected[i].data<float>(), expected[i].data<float>() + found[i].size());
          for (std::int64_t v = 0; v < found[i].size(); ++v)
            ASSERT_NEAR(found[i].data<float>()[v], expected[i].data<float>()[v], 1e-6 * largest)
                << text(one.image) << ' ' << axis << ' ' << v;
        }
        for (const Shape& extent : source.asked)   // whole groups, but at the end
          EXPECT_LE(extent[static_cast<std::size_t>(axis)], axis + 2);
      }
  }
}

TEST(Turned, OneThatIsNotThereIsNamed) {
  const SlidingWindow windows({8, 8}, {.roi = {4}});
  for (const int axis : {-1, 2}) try {
      infer(windows, random_tensor({1, 1, 8, 8}, 5), by_place({4, 4}), {.axis = axis});
      FAIL();
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("the image has 2 spatial axes, expected 0 to 1"), std::string::npos);
    }
}

}  // namespace
}  // namespace tenfold
