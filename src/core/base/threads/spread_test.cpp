// Work on several threads: every part once, in the calling thread alone unless allowed, and errors come through.
#include "base/threads/spread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace tenfold {
namespace {

constexpr std::int64_t kMuch = std::int64_t{1} << 30;

TEST(Spread, EveryPartOnce) {
  const MaySpread may;
  std::vector<std::atomic<int>> seen(1000);
  spread(1000, kMuch, [&](std::int64_t part) { ++seen[static_cast<std::size_t>(part)]; });
  for (const auto& count : seen) EXPECT_EQ(count, 1);
  spread(0, kMuch, [](std::int64_t) { FAIL(); });
}

TEST(Spread, StretchesCoverAll) {
  const MaySpread may;
  for (const std::int64_t count : {0, 1, 7, 64, 1000, 12345}) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
    spread_stretches(count, 8, kMuch, [&](std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(begin % 8, 0);
      for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
    });
    for (const auto& one : seen) EXPECT_EQ(one, 1) << count;
  }
}

TEST(Spread, StaysInTheThreadWithoutLeave) {
  const auto self = std::this_thread::get_id();
  spread(100, kMuch, [&](std::int64_t) { EXPECT_EQ(std::this_thread::get_id(), self); });
}

TEST(Spread, ErrorsComeThrough) {
  const MaySpread may;
  for (const std::int64_t bad : {0, 57, 99})
    EXPECT_THROW(spread(100, kMuch, [&](std::int64_t part) { if (part == bad) throw std::runtime_error("bad"); }), std::runtime_error);
}

}  // namespace
}  // namespace tenfold
