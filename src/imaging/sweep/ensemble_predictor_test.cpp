// Several engines on the same windows: beside the mean of what each gives by itself.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "tenfold/build.h"
#include "tenfold/error.h"
#include "tenfold/internal/idle_contexts.h"
#include "tenfold/network.h"
#include "tenfold/sliding_window.h"

namespace tenfold {
namespace {

constexpr std::int64_t kRoi[2] = {4, 5};

// y = x * (scale + place in the window), for as many outputs as `scales`.
Engine ramp_engine(const std::vector<float>& scales, DType dtype = DType::f32, std::int64_t max_batch = 4, std::int64_t channels = 1) {
  Network net;
  const NetworkTensor x = net.input("x", dtype, {"n", channels, kRoi[0], kRoi[1]}), f = net.cast(x, DType::f32);
  for (const float scale : scales) {
    Tensor ramp(DType::f32, {kRoi[0], kRoi[1]});
    for (std::int64_t i = 0; i < ramp.size(); ++i) ramp.mutable_data<float>()[i] = scale + static_cast<float>(i);
    net.mark_output(net.elementwise(Elementwise::prod, f, net.constant(ramp)), "y" + std::to_string(net.outputs().size()));
  }
  BuildConfig config;
  config.threads = 1, config.optimization_level = 0;
  const Shape largest = {max_batch, channels, kRoi[0], kRoi[1]};
  config.profiles = {{{"x", {{1, channels, kRoi[0], kRoi[1]}, largest, largest}}}};
  return build(net, config);
}

Tensor some_image() {
  Tensor image(DType::f32, {2, 1, 13, 9});
  for (std::int64_t i = 0; i < image.size(); ++i) image.mutable_data<float>()[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  return image;
}

const SlidingWindow& some_windows() {
  static const SlidingWindow windows({13, 9}, {.roi = {4, 5}, .overlap = {0.5}, .mode = WindowMode::gaussian});
  return windows;
}

TEST(Ensemble, IsTheMeanOfItsEngines) {
  const Tensor image = some_image();
  const std::array engines = {ramp_engine({1, -3}), ramp_engine({5, 2}, DType::f32, 3), ramp_engine({-7, 0.5f})};
  std::vector<std::vector<Tensor>> alone;
  for (const Engine& one : engines) alone.push_back(infer(some_windows(), image, one));
  for (const int threads : {1, 2}) {
    const std::vector<Tensor> mean = infer(some_windows(), image, engines, {.stitch = {.threads = threads}, .window_batch = 5});
    ASSERT_EQ(mean.size(), 2u);
    for (std::size_t o = 0; o < 2; ++o)
      for (std::int64_t i = 0; i < image.size(); ++i) {
        double expected = 0;
        for (const std::vector<Tensor>& one : alone) expected += one[o].data<float>()[i] / 3.0;
        ASSERT_NEAR(mean[o].data<float>()[i], expected, 2e-6 * 25) << o << " " << i;   // of values up to 25
      }
  }
}

TEST(Ensemble, OfOneIsThatOne) {
  const Tensor image = some_image();
  const std::array engines = {ramp_engine({2})};
  const Tensor alone = infer(some_windows(), image, engines[0])[0], mean = infer(some_windows(), image, engines)[0];
  EXPECT_TRUE(std::equal(mean.data<float>(), mean.data<float>() + mean.size(), alone.data<float>()));
}

// One that takes f16 gets the rounded windows, and the other still f32.
TEST(Ensemble, ConvertsWindowsForEachEngine) {
  const Tensor image = some_image();
  const std::array engines = {ramp_engine({1}), ramp_engine({1}, DType::f16)};
  const Tensor exact = infer(some_windows(), image, engines[0])[0], rounded = infer(some_windows(), image, engines[1])[0],
               mean = infer(some_windows(), image, engines)[0];
  bool differ = false;
  for (std::int64_t i = 0; i < image.size(); ++i) {
    const double a = exact.data<float>()[i], b = rounded.data<float>()[i];
    differ = differ || a != b;
    ASSERT_NEAR(mean.data<float>()[i], (a + b) / 2, 1e-5);
  }
  EXPECT_TRUE(differ);
}

TEST(Ensemble, WhatDoesNotFitIsNamed) {
  const Tensor image = some_image();
  const auto message = [&](std::vector<Engine> engines) {
    try {
      infer(some_windows(), image, engines);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message({}).find("an ensemble of no engines: expected at least one"), std::string::npos);
  EXPECT_NE(message({ramp_engine({1}), ramp_engine({1, 2})})
                .find("engine 1 of the ensemble: output 1 is 'y1', of engine 0 none: expected the same outputs"),
            std::string::npos);
  EXPECT_NE(message({ramp_engine({1}), ramp_engine({1}, DType::f32, 4, 2)}).find("engine 1 of the ensemble: the engine's input"),
            std::string::npos);
  EXPECT_NE(message({ramp_engine({1}), ramp_engine({1}, DType::i32)})
                .find("engine 1 of the ensemble takes windows of i32, engine 0 of f32"), std::string::npos);
}

TEST(Ensemble, KeepTheirContextsForTheNextSweep) {
  const std::vector<Engine> engines = {ramp_engine({1}), ramp_engine({3})};
  while (drop_idle_contexts()) {}
  const std::vector<Tensor> first = infer(some_windows(), some_image(), engines);
  const std::array<const ExecutionContext*, 2> kept = {borrow_context(engines[0]).get(), borrow_context(engines[1]).get()};
  const std::vector<Tensor> second = infer(some_windows(), some_image(), engines);
  EXPECT_EQ(std::memcmp(first[0].raw(), second[0].raw(), static_cast<std::size_t>(first[0].bytes())), 0);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(borrow_context(engines[i]).get(), kept[i]);
  EXPECT_TRUE(drop_idle_contexts());
}

}  // namespace
}  // namespace tenfold
