// One network on several devices, here the CPU more than once: the bits of one.
#include "sweep/several_devices.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>

#include "tenfold/build.h"
#include "tenfold/error.h"
#include "tenfold/network.h"

namespace tenfold::imaging {
namespace {

constexpr std::int64_t kRoi[2] = {4, 5};

// y = x * (1 + place in the window).
Engine ramp_engine() {
  Network net;
  const NetworkTensor x = net.input("x", DType::f32, {"n", 2, kRoi[0], kRoi[1]});
  Tensor ramp(DType::f32, {kRoi[0], kRoi[1]});
  for (std::int64_t i = 0; i < ramp.size(); ++i) ramp.mutable_data<float>()[i] = 1 + static_cast<float>(i);
  net.mark_output(net.elementwise(Elementwise::prod, x, net.constant(ramp)), "y");
  BuildConfig config;
  config.threads = 1, config.optimization_level = 0;
  const Shape largest = {4, 2, kRoi[0], kRoi[1]};
  config.profiles = {{{"x", {{1, 2, kRoi[0], kRoi[1]}, largest, largest}}}};
  return build(net, config);
}

Tensor some_images() {
  Tensor images(DType::f32, {2, 2, 23, 41});
  for (std::int64_t i = 0; i < images.size(); ++i) images.mutable_data<float>()[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  return images;
}

SlidingWindow some_windows() { return {{23, 41}, {.roi = {4, 5}, .overlap = {0.5}, .mode = WindowMode::gaussian}}; }

TEST(SeveralDevices, ShareRowsByTheirSpeed) {
  const std::array<std::int64_t, 5> ends = {10, 20, 30, 40, 50};
  const auto shares = [&](std::vector<double> speeds) {
    std::vector<std::int64_t> rows;
    for (const Band& one : bands_by_speed(speeds, ends, 0)) rows.push_back(one.end - one.begin);
    return rows;
  };
  EXPECT_EQ(shares({1, 1}), (std::vector<std::int64_t>{20, 30}));
  EXPECT_EQ(shares({4, 1}), (std::vector<std::int64_t>{40, 10}));
  EXPECT_EQ(shares({1, 100, 1}), (std::vector<std::int64_t>{0, 50, 0}));
  EXPECT_EQ(shares({100, 1}), (std::vector<std::int64_t>{50, 0}));
  EXPECT_EQ(shares({1, 1, 1, 1, 1, 1, 1}).size(), 7u);
}

TEST(SeveralDevices, GiveTheBitsOfOne) {
  const Engine engine = ramp_engine();
  const SlidingWindow windows = some_windows();
  for (const int axis : {0, 1})
    for (const std::size_t devices : {2u, 3u}) {
      const std::vector<Engine> engines(devices, engine);
      SweepOptions options{.axis = axis};
      const Tensor expected = infer(windows, some_images(), engine, options)[0];
      const std::thread::id here = std::this_thread::get_id();
      std::int64_t last = 0, all = 0;
      options.several = SeveralEngines::devices;
      options.progress = [&](std::int64_t done, std::int64_t total) {
        EXPECT_EQ(std::this_thread::get_id(), here);
        EXPECT_GE(done, last);
        return last = done, all = total, true;
      };
      const Tensor found = infer(windows, some_images(), engines, options)[0];
      ASSERT_EQ(found.shape(), expected.shape());
      EXPECT_EQ(std::memcmp(found.raw(), expected.raw(), static_cast<std::size_t>(found.bytes())), 0);
      EXPECT_EQ(last, all);
      EXPECT_GT(all, 0);
    }
}

TEST(SeveralDevices, StopWhereOneFailsOrTheCallerSays) {
  const std::vector<Engine> engines(2, ramp_engine());
  SweepOptions options{.several = SeveralEngines::devices};
  options.progress = [](std::int64_t, std::int64_t) { return false; };
  EXPECT_THROW(infer(some_windows(), some_images(), engines, options), Error);
  class Broken final : public ImageSource {
   public:
    Shape shape() const override { return {1, 2, 23, 41}; }
    DType dtype() const override { return DType::f32; }
    void read(std::int64_t, std::span<const std::int64_t>, std::span<const std::int64_t>, void*) override {
      throw Error(ErrorKind::io, "the disk is gone");
    }
  } broken;
  class Nowhere final : public ImageSink {
   public:
    void open(DType, const Shape&) override {}
    void write(std::int64_t, std::span<const std::int64_t>, std::span<const std::int64_t>, const void*) override {}
  };
  options.progress = {};
  try {
    sweep(some_windows(), broken, engines, [](std::size_t) { return std::make_shared<Nowhere>(); }, options);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
  }
  options.memory = 1 << 20;
  EXPECT_THROW(infer(some_windows(), some_images(), engines, options), Error);
}

}  // namespace
}  // namespace tenfold::imaging
