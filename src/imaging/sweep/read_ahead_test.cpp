// Sources are read by a second thread, one region ahead; what goes wrong there comes out of the sweep.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tenfold/error.h"
#include "tenfold/sliding_window.h"

namespace tenfold {
namespace {

constexpr std::int64_t kPlanes = 40;

// Planes of their own numbers; tells how many regions were asked for, and fails at one of them.
class NumberedPlanes final : public ImageSource {
 public:
  Shape shape() const override { return {2, 1, kPlanes, 4, 4}; }
  DType dtype() const override { return DType::f32; }
  std::int64_t chunk() const override { return 2; }
  void read(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
            void* to) override {
    EXPECT_FALSE(inside.exchange(true));
    if (std::this_thread::get_id() == caller) by_caller = true;
    if (image == 0 && begin[0] == fails_at) throw std::runtime_error("the disk is gone");
    for (std::int64_t z = 0; z < extent[0]; ++z)
      std::fill_n(static_cast<float*>(to) + z * 16, 16, static_cast<float>(begin[0] + z + image * 1000));
    const std::lock_guard lock(mutex);
    ++regions, changed.notify_all();
    inside = false;
  }
  // Waits until the reader has come so far; false: it does not.
  bool reached(int number) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), [&] { return regions >= number; });
  }
  std::int64_t fails_at = -1;
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> inside{false}, by_caller{false};
  std::mutex mutex;
  std::condition_variable changed;
  int regions = 0;
};

class LastPlane final : public ImageSink {
 public:
  void open(DType, const Shape&) override {}
  void write(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
             const void* from) override {
    for (std::int64_t z = 0; z < extent[0]; ++z)
      EXPECT_EQ(static_cast<const float*>(from)[z * 16], static_cast<float>(begin[0] + z + image * 1000));
    planes += extent[0];
  }
  std::int64_t planes = 0;
};

const SlidingWindow& windows() {
  static const SlidingWindow of({kPlanes, 4, 4}, {.roi = {2, 4, 4}, .overlap = {0}});
  return of;
}

// While a function computes the windows of planes z and z + 1, the next group arrives.
TEST(ReadAhead, WhileTheNetworkComputes) {
  NumberedPlanes source;
  const auto sink = std::make_shared<LastPlane>();
  std::int64_t calls = 0;
  SweepSeconds seconds;
  sweep(windows(), source,
        [&](const Tensor& window, std::int64_t first) {
          EXPECT_EQ(first, calls++);
          EXPECT_TRUE(source.reached(static_cast<int>(std::min<std::int64_t>(first + 2, kPlanes))));
          return std::vector<Tensor>{window};
        },
        [&](std::size_t) { return sink; }, {.stitch = {.threads = 1}, .window_batch = 1, .seconds = &seconds});
  EXPECT_EQ(sink->planes, 2 * kPlanes);
  EXPECT_EQ(source.regions, kPlanes);   // of two planes, of two images
  EXPECT_FALSE(source.by_caller);
  EXPECT_GT(seconds.reading, 0);
}

TEST(ReadAhead, WhatTheSourceThrowsComesOutBehindWhatIsThere) {
  NumberedPlanes source;
  source.fails_at = 10;
  const auto sink = std::make_shared<LastPlane>();
  try {
    sweep(windows(), source, [](const Tensor& window, std::int64_t) { return std::vector<Tensor>{window}; },
          [&](std::size_t) { return sink; }, {.stitch = {.threads = 1}, .window_batch = 1});
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "the disk is gone");
  }
  EXPECT_EQ(sink->planes, 10);
}

TEST(ReadAhead, EndsWithTheSweep) {
  NumberedPlanes source;
  const auto sink = std::make_shared<LastPlane>();
  const auto go = [&](const WindowPredictor& predict, const SweepOptions& options) {
    sweep(windows(), source, predict, [&](std::size_t) { return sink; }, options);
  };
  const WindowPredictor same = [](const Tensor& window, std::int64_t) { return std::vector<Tensor>{window}; };
  const auto three = [](std::int64_t done, std::int64_t) { return done < 3; };
  EXPECT_THROW(go(same, {.stitch = {.threads = 1}, .window_batch = 1, .progress = three}), Error);
  EXPECT_FALSE(source.inside);          // nobody reads on
  const int regions = source.regions;
  EXPECT_LE(regions, 5);
  EXPECT_THROW(go([](const Tensor&, std::int64_t) -> std::vector<Tensor> { throw std::logic_error("bad"); }, {}),
               std::logic_error);
  EXPECT_LE(source.regions, regions + 5);
}

}  // namespace
}  // namespace tenfold
