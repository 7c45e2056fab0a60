// What windows read, beside every tap of every result counted one by one.
#include "passes/positions.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace tenfold::passes {
namespace {

std::set<std::int64_t> all(const Positions& p) {
  std::set<std::int64_t> values;
  for (std::int64_t i = 0; i < p.count; ++i) values.insert(p.first + i * p.step);
  return values;
}
Positions random(std::mt19937& numbers) {
  const auto upto = [&](std::int64_t max) { return static_cast<std::int64_t>(numbers() % static_cast<unsigned>(max)); };
  const std::int64_t count = 1 + upto(6);
  return {upto(30), count > 1 ? 1 + upto(5) : 1, count};
}

TEST(Positions, JoinedHoldBothAndLieInside) {
  std::mt19937 numbers(1);
  for (int i = 0; i < 2000; ++i) {
    const Positions a = random(numbers), b = random(numbers), both = joined(a, b);
    const std::set<std::int64_t> held = all(both);
    for (const Positions& part : {a, b}) {
      const Positions inner = within(both, part);
      EXPECT_EQ(composed(both, inner), part);
      for (const std::int64_t at : all(part)) EXPECT_TRUE(held.contains(at));
    }
    EXPECT_EQ(*held.begin(), std::min(a.first, b.first));
    EXPECT_EQ(*held.rbegin(), std::max(a.last(), b.last()));
  }
}

// The window over what was read computes what the window over all did.
TEST(Positions, WindowsReadWhatTheirTapsTouch) {
  std::mt19937 numbers(2);
  const auto upto = [&](std::int64_t max) { return static_cast<std::int64_t>(numbers() % static_cast<unsigned>(max)); };
  for (int i = 0; i < 5000; ++i) {
    const Taps taps{1 + upto(4), 1 + upto(3), 1 + upto(5), upto(9)};
    const Positions at = random(numbers);
    const Reads reads = read_for(taps, at);
    std::set<std::int64_t> touched, touched_again;
    for (std::int64_t o = 0; o < at.count; ++o)
      for (std::int64_t k = 0; k < taps.kernel; ++k) {
        const std::int64_t from = (at.first + o * at.step) * taps.stride - taps.pad + k * taps.dilation;
        const std::int64_t again = o * reads.taps.stride + k * reads.taps.dilation;
        EXPECT_EQ(reads.at.first + again * reads.at.step, from);
        EXPECT_LT(again, reads.at.count);
        touched.insert(from), touched_again.insert(again);
      }
    EXPECT_EQ(*touched.begin(), reads.at.first);
    EXPECT_EQ(*touched.rbegin(), reads.at.last());
    EXPECT_EQ(touched.size(), touched_again.size());
  }
}

TEST(Positions, InsideLeavesOutWhatLiesInPads) {
  const auto some = inside({-5, 2, 8}, 6);   // -5 -3 -1 | 1 3 5 | 7 9
  ASSERT_TRUE(some);
  EXPECT_EQ(some->at, (Positions{1, 2, 3}));
  EXPECT_EQ(some->before, 3);
  EXPECT_EQ(some->behind, 2);
  EXPECT_FALSE(inside({-5, 1, 3}, 6));
  EXPECT_FALSE(inside({6, 1, 1}, 6));
  EXPECT_EQ(inside({-1, 3, 2}, 6)->at, (Positions{2, 1, 1}));
}

}  // namespace
}  // namespace tenfold::passes
