// Sweeps by bands and of parts give the bits of the whole; predictions are stored, so that they are the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "sweep/random_tensor_for_tests.h"
#include "tenfold/error.h"
#include "tenfold/sliding_window.h"

namespace tenfold {
namespace {

Shape shape_of(std::int64_t images, std::int64_t channels, const Shape& spatial) {
  Shape shape = {images, channels};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  return shape;
}

// Stored predictions by number of window, plus the window's own values: what is cut at a wrong place is seen, too.
WindowPredictor stored(const std::vector<Tensor>& predictions, std::vector<std::int64_t>* asked = nullptr) {
  return [&predictions, asked](const Tensor& windows, std::int64_t first) {
    const std::int64_t count = windows.shape()[0], of_window = windows.size() / count;
    std::vector<Tensor> outputs;
    for (const Tensor& all : predictions) {
      Shape shape = all.shape();
      shape[0] = count;
      Tensor y(DType::f32, shape);
      const std::int64_t size = y.size() / count;
      for (std::int64_t i = 0; i < y.size(); ++i)
        y.mutable_data<float>()[i] = all.data<float>()[first * size + i] *
                                     windows.data<float>()[i / size * of_window + i % size % of_window];
      outputs.push_back(y);
    }
    if (asked) for (std::int64_t w = first; w < first + count; ++w) asked->push_back(w);
    return outputs;
  };
}

// Images by region, which are asked for the rows of bands.
class RegionSource final : public ImageSource {
 public:
  RegionSource(Tensor images, std::int64_t chunk) : images_(std::move(images)), chunk_(chunk) {}
  Shape shape() const override { return images_.shape(); }
  DType dtype() const override { return images_.dtype(); }
  std::int64_t chunk() const override { return chunk_; }
  void read(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
            void* to) override {
    const Shape& shape = images_.shape();
    const std::int64_t count = element_count(extent);
    voxels += count;
    for (std::int64_t i = 0; i < shape[1] * count; ++i) {
      std::int64_t at = 0, scale = 1, rest = i % count;
      for (std::size_t a = extent.size(); a-- > 0; rest /= extent[a], scale *= shape[2 + a])
        at += (begin[a] + rest % extent[a]) * scale;
      static_cast<float*>(to)[i] = images_.data<float>()[(image * shape[1] + i / count) * scale + at];
    }
  }
  std::int64_t voxels = 0;

 private:
  Tensor images_;
  std::int64_t chunk_;
};

class RegionSink final : public ImageSink {
 public:
  void open(DType dtype, const Shape& shape) override {
    EXPECT_FALSE(images.defined());
    images = Tensor(dtype, shape);
    std::memset(images.mutable_raw(), 77, static_cast<std::size_t>(images.bytes()));
  }
  void write(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
             const void* from) override {
    const Shape& shape = images.shape();
    const std::int64_t count = element_count(extent), size = byte_size(images.dtype(), 1);
    for (std::int64_t i = 0; i < shape[1] * count; ++i) {
      std::int64_t at = 0, scale = 1, rest = i % count;
      for (std::size_t a = extent.size(); a-- > 0; rest /= extent[a], scale *= shape[2 + a])
        at += (begin[a] + rest % extent[a]) * scale;
      at += (image * shape[1] + i / count) * scale;
      std::memcpy(static_cast<std::byte*>(images.mutable_raw()) + at * size,
                  static_cast<const std::byte*>(from) + i * size, static_cast<std::size_t>(size));
      ++written;
    }
    if (extent.size() > 1) rows.insert({begin[1], begin[1] + extent[1]});
  }
  Tensor images;
  std::int64_t written = 0;
  std::set<std::pair<std::int64_t, std::int64_t>> rows;
};

bool same(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.bytes())) == 0;
}

struct Case {
  Shape image;
  SlidingWindowOptions windows;
  StitchOptions stitch = {};
  std::int64_t images = 1;
};
const Case kCases[] = {
    {{90}, {.roi = {8}, .overlap = {0.5}}, {}, 2},
    {{9, 60}, {.roi = {4, 7}, .overlap = {0.6}, .mode = WindowMode::gaussian}, {}, 2},
    {{12, 50, 9}, {.roi = {6, 8, 4}, .overlap = {0.5}, .mode = WindowMode::gaussian}},
    {{12, 50, 9},
     {.roi = {6, 8, 4}, .mode = WindowMode::halo, .halo = {2, 2, 0}},
     {.reduction = OutputReduction::argmax}},
    {{12, 50, 9}, {.roi = {6, 10, 4}, .overlap = {0.3}, .placement = WindowPlacement::even}, {.grid = {17, 70, 13}}},
    {{12, 50, 9}, {.roi = {6, 10, 4}, .overlap = {0.75}}, {.reduction = OutputReduction::argmax, .grid = {9, 21, 9}}},
    {{4, 40, 6},
     {.roi = {6, 8, 10}, .overlap = {0.5}},
     {.grid = {9, 40, 9}, .interpolation = {GridInterpolation::nearest}}},
    {{5, 30, 6, 7}, {.roi = {2, 8, 4, 4}, .overlap = {0.5}}, {.grid = {5, 41, 9, 7}}}};

// Of the window's extents, and of half of them.
std::vector<Tensor> predictions_for(const SlidingWindow& windows, std::int64_t images) {
  Shape half = windows.roi();
  for (std::int64_t& extent : half) extent = std::max<std::int64_t>(1, extent / 2);
  return {random_tensor(shape_of(images * windows.count(), 3, windows.roi()), 1),
          random_tensor(shape_of(images * windows.count(), 2, half), 2)};
}

TEST(Bands, GiveTheBitsOfTheWhole) {
  for (const Case& one : kCases) {
    const SlidingWindow windows(one.image, one.windows);
    const Tensor images = random_tensor(shape_of(one.images, 1, one.image), 3);
    const std::vector<Tensor> predictions = predictions_for(windows, one.images);
    SweepOptions options{.stitch = one.stitch, .window_batch = 3};
    const std::vector<Tensor> expected = infer(windows, images, stored(predictions), options);
    std::size_t most = 0;
    for (std::int64_t memory = 1 << 20;; memory = memory * 3 / 4) {
      options.memory = memory;
      std::string told;
      options.log = [&](Severity, std::string_view text) { told += text; };
      RegionSource source(images, 2);
      std::vector<std::shared_ptr<RegionSink>> sinks;
      std::vector<std::int64_t> asked;
      try {
        sweep(windows, source, stored(predictions, &asked),
              [&](std::size_t) { return sinks.emplace_back(std::make_shared<RegionSink>()); }, options);
      } catch (const Error& e) {
        ASSERT_NE(std::string(e.what()).find("expected at least"), std::string::npos) << e.what();
        break;
      }
      ASSERT_EQ(sinks.size(), 2u);
      for (std::size_t i = 0; i < 2; ++i) {
        ASSERT_TRUE(same(sinks[i]->images, expected[i])) << text(one.image) << ' ' << memory << ' ' << i;
        EXPECT_EQ(sinks[i]->written, expected[i].size());
      }
      const std::vector<Tensor> in_memory = infer(windows, images, stored(predictions), options);
      for (std::size_t i = 0; i < 2; ++i)
        ASSERT_TRUE(same(in_memory[i], expected[i])) << text(one.image) << ' ' << memory;
      const auto computed = static_cast<std::int64_t>(asked.size()) - 1;   // and the one of zeros
      EXPECT_EQ(std::set<std::int64_t>(asked.begin(), asked.end()).size(), one.images * windows.count());
      EXPECT_GE(computed, one.images * windows.count());
      if (one.image.size() > 1) {
        most = std::max(most, sinks[0]->rows.size());
        const std::string bands = std::to_string(sinks[0]->rows.size()) + " bands";
        EXPECT_EQ(told.find(bands) != std::string::npos, sinks[0]->rows.size() > 1) << told;
      }
    }
    if (one.image.size() > 1) { EXPECT_GT(most, 2u) << text(one.image); }
  }
}

TEST(Bands, TheLeastThatIsNamedWouldDo) {
  const SlidingWindow windows({12, 50, 9}, {.roi = {6, 8, 4}, .overlap = {0.5}});
  const Tensor images = random_tensor({1, 1, 12, 50, 9}, 3);
  const std::vector<Tensor> predictions = predictions_for(windows, 1);
  SweepOptions options{.memory = 1000};
  std::string message;
  RegionSource source(images, 1);
  const MakeSink sinks = [](std::size_t) { return std::make_shared<RegionSink>(); };
  try {
    sweep(windows, source, stored(predictions), sinks, options);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
    message = e.what();
  }
  const auto least = message.find("expected at least ");
  ASSERT_NE(least, std::string::npos) << message;
  options.memory = std::stoll(message.substr(least + 18));
  EXPECT_GT(options.memory, 1000);
  const std::vector<Shape> outputs = {{3, 6, 8, 4}, {2, 3, 4, 2}};
  EXPECT_GT(sweep_bands(windows, source, outputs, options).size(), 4u);
  sweep(windows, source, stored(predictions), sinks, options);
  --options.memory;
  EXPECT_THROW(sweep(windows, source, stored(predictions), sinks, options), Error);
}

TEST(Bands, EndWhereChunksDo) {
  const SlidingWindow windows({12, 50, 9}, {.roi = {6, 8, 4}, .overlap = {0.5}});
  RegionSource source(random_tensor({1, 1, 12, 50, 9}, 3), 1);
  const std::vector<Shape> outputs = {{3, 6, 8, 4}};
  EXPECT_EQ(sweep_bands(windows, source, outputs, {}, 16), (std::vector<std::int64_t>{50}));
  EXPECT_EQ(sweep_bands(windows, source, outputs, {.memory = 51'000}, 16), (std::vector<std::int64_t>{16, 32, 50}));
  EXPECT_THROW(sweep_bands(windows, source, outputs, {.memory = 49'000}, 16), Error);
  EXPECT_GT(sweep_bands(windows, source, outputs, {.memory = 40'000}).size(), 4u);
}

// Planes from one on, and rows: as a run that was killed goes on.
TEST(Parts, GiveTheBitsOfTheWhole) {
  for (const Case& one : kCases) {
    if (one.images > 1 || one.image.size() < 3) continue;
    const SlidingWindow windows(one.image, one.windows);
    const Tensor images = random_tensor(shape_of(1, 1, one.image), 3);
    const std::vector<Tensor> predictions = predictions_for(windows, 1);
    SweepOptions options{.stitch = one.stitch, .window_batch = 3};
    const Tensor expected = infer(windows, images, stored(predictions), options)[0];
    const Shape& extents = one.stitch.grid.empty() ? one.image : one.stitch.grid;
    for (std::int64_t plane = 0; plane < extents[0]; plane += 2)
      for (const auto& [begin, end] :
           std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0}, {0, 7}, {13, extents[1]}, {5, 6}}) {
        options.first_plane = plane, options.first_row = begin, options.end_row = end;
        const auto rows_end = end == 0 ? extents[1] : end;
        RegionSource source(images, 2);
        const auto sink = std::make_shared<RegionSink>();
        std::vector<std::int64_t> asked;
        sweep(windows, source, stored(predictions, &asked),
              [&](std::size_t output) { return output == 0 ? sink : std::make_shared<RegionSink>(); }, options);
        const std::int64_t rest = element_count(extents) / extents[0] / extents[1], channels = expected.shape()[1];
        EXPECT_EQ(sink->written, channels * (extents[0] - plane) * (rows_end - begin) * rest);
        const std::int64_t size = byte_size(expected.dtype(), rest);
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t z = plane; z < extents[0]; ++z) {
            const std::int64_t at = ((c * extents[0] + z) * extents[1] + begin) * size;
            ASSERT_EQ(std::memcmp(static_cast<const std::byte*>(sink->images.raw()) + at,
                                  static_cast<const std::byte*>(expected.raw()) + at,
                                  static_cast<std::size_t>((rows_end - begin) * size)),
                      0)
                << text(extents) << ' ' << plane << ' ' << begin << ' ' << z;
          }
        if (end == 7 && one.windows.roi[1] < 11) {
          EXPECT_LT(static_cast<std::int64_t>(asked.size()), windows.count()) << text(one.image);
        }
      }
  }
}

TEST(Parts, AreCutIntoBandsWhereMemoryIsBounded) {
  const SlidingWindow windows({12, 50, 9}, {.roi = {6, 8, 4}, .overlap = {0.5}, .mode = WindowMode::gaussian});
  const Tensor images = random_tensor({1, 1, 12, 50, 9}, 3);
  const std::vector<Tensor> predictions = predictions_for(windows, 1);
  const Tensor expected = infer(windows, images, stored(predictions), {.window_batch = 3})[0];
  SweepOptions options{.window_batch = 3, .memory = 40'000, .first_plane = 5, .first_row = 11, .end_row = 43};
  RegionSource source(images, 2);
  const auto sink = std::make_shared<RegionSink>();
  sweep(windows, source, stored(predictions),
        [&](std::size_t output) { return output == 0 ? sink : std::make_shared<RegionSink>(); }, options);
  EXPECT_GT(sink->rows.size(), 2u);
  EXPECT_EQ(sink->rows.begin()->first, 11);
  EXPECT_EQ(sink->rows.rbegin()->second, 43);
  EXPECT_EQ(sink->written, 3 * 7 * 32 * 9);
  for (std::int64_t c = 0; c < 3; ++c)
    for (std::int64_t z = 5; z < 12; ++z) {
      const std::int64_t at = ((c * 12 + z) * 50 + 11) * 9;
      EXPECT_EQ(std::memcmp(sink->images.data<float>() + at, expected.data<float>() + at, 32 * 9 * sizeof(float)), 0) << z;
    }
}

TEST(Parts, WhatGoesWrongIsNamed) {
  const SlidingWindow windows({8, 8}, {.roi = {4}});
  const std::vector<Tensor> predictions = predictions_for(windows, 2);
  const auto message = [&](std::int64_t images, SweepOptions options) {
    try {
      infer(windows, random_tensor({images, 1, 8, 8}, 5), stored(predictions), options);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message(1, {.memory = -1}).find("memory -1: expected bytes"), std::string::npos);
  EXPECT_NE(message(2, {.first_plane = 1}).find("expected a plane of one image"), std::string::npos);
  EXPECT_NE(message(1, {.first_plane = 8}).find("first_plane 8: expected a plane of one image with 8"),
            std::string::npos);
  EXPECT_NE(message(1, {.first_row = 3, .end_row = 9}).find("rows 3 to 9: expected some of 8"), std::string::npos);
  EXPECT_NE(message(1, {.first_row = 3, .end_row = 3}).find("rows 3 to 3"), std::string::npos);
}

}  // namespace
}  // namespace tenfold
