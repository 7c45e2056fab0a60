// One network on several devices, here the CPU more than once: the bits of one.
#include "sweep/device_bands.h"

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
    for (const Range& one : rows_by_speed(speeds, ends, 0)) rows.push_back(one.count());
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
}

// What a sweep with these options gives, and its log.
struct Told { Tensor found; std::string log; };
Told told(std::span<const Engine> engines, SweepOptions options) {
  Told result;
  options.log = [&](Severity, std::string_view line) { result.log += std::string(line) + "\n"; };
  options.several = SeveralEngines::devices;
  result.found = infer(some_windows(), some_images(), engines, options)[0];
  return result;
}

TEST(SeveralDevices, ShareTheMemory) {
  const std::vector<Engine> engines(2, ramp_engine());
  for (const int axis : {0, 1}) {
    const Tensor expected = infer(some_windows(), some_images(), engines[0], {.axis = axis})[0];
    for (const std::int64_t memory : {1'000'000, 5'200, 4'800}) {
      const Told found = told(engines, {.axis = axis, .memory = memory});
      ASSERT_EQ(found.found.shape(), expected.shape());
      EXPECT_EQ(std::memcmp(found.found.raw(), expected.raw(), static_cast<std::size_t>(expected.bytes())), 0);
      const std::string half = std::to_string(memory / 2) + " bytes";
      if (found.log.find(", in " + half) == std::string::npos) continue;   // one was so slow that it has no rows
      const std::string line = "sweep: " + half + ": axis 1 is cut into ";   // in the sweep's order
      const bool bands = found.log.find(line) != std::string::npos;
      EXPECT_EQ(bands, memory < 6'000) << found.log;
    }
  }
}

TEST(SeveralDevices, AreRefusedWhereAShareIsTooLittle) {
  const std::vector<Engine> engines(2, ramp_engine());
  try {
    told(engines, {.memory = 1500});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(std::string(error.what()).find(": a band of one row"), std::string::npos) << error.what();
  }
  EXPECT_THROW(told(engines, {.memory = -1}), Error);
}

TEST(SeveralDevices, BandsOfEachFitIntoItsShare) {
  class Planes final : public ImageSource {
   public:
    Shape shape() const override { return {1, 2, 23, 41}; }
    DType dtype() const override { return DType::f32; }
    void read(std::int64_t, std::span<const std::int64_t>, std::span<const std::int64_t>, void*) override {}
  } source;
  const SlidingWindow windows = some_windows();
  const std::vector<Shape> outputs = {{2, 4, 5}};
  const std::array<double, 3> speeds = {3, 1, 0.001};
  const auto check = [&](std::int64_t memory, std::int64_t align) {
    const std::vector<DeviceBand> bands = sweep_bands(windows, source, outputs, speeds, {.memory = memory}, align);
    std::int64_t row = 0;
    std::array<std::int64_t, 3> rows{};
    for (const DeviceBand& one : bands) {
      EXPECT_EQ(one.begin, row);
      EXPECT_TRUE(one.end % align == 0 || one.end == 41) << one.end;
      rows.at(static_cast<std::size_t>(one.device)) += one.end - one.begin, row = one.end;
    }
    EXPECT_EQ(row, 41);
    EXPECT_GT(rows[0], 2 * rows[1]);
    EXPECT_EQ(rows[2] == 0, true);
    return bands.size();
  };
  EXPECT_EQ(check(0, 1), 2u);
  EXPECT_EQ(check(1 << 20, 4), 2u);
  EXPECT_GT(check(5'200, 1), 4u);
  try {
    check(2'000, 1);
    FAIL();
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_TRUE(what.starts_with("memory 2000, shared by 2 devices: memory 1000: a band of one row")) << what;
    EXPECT_TRUE(what.ends_with(", for each device")) << what;
  }
  EXPECT_THROW(sweep_bands(windows, source, outputs, std::array<double, 2>{1, 0}, {}), Error);
}

}  // namespace
}  // namespace tenfold::imaging
