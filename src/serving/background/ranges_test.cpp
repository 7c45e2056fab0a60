// The rule by which ranges are made of shapes.
#include "background/ranges.h"

#include <gtest/gtest.h>

namespace tenfold::background {
namespace {

TEST(Ranges, GoFromPowerOfTwoToPowerOfTwoWhereExtentsAreOpen) {
  const std::vector<OpenInput> inputs = {{"x", {-1, 6, -1}}};
  const std::int64_t huge = std::int64_t{1} << 50;
  const std::tuple<std::int64_t, std::int64_t, std::int64_t> cases[] = {
      {0, 0, 0},     {1, 1, 1},         {2, 2, 2},
      {3, 2, 4},     {37, 32, 64},      {64, 64, 64},
      {65, 64, 128}, {1000, 512, 1024}, {huge + 1, huge + 1, huge + 1}};
  for (const auto& [extent, low, high] : cases) {
    const Shapes seen = {{extent, 6, 1}};
    const Ranges ranges = around(inputs, seen);
    EXPECT_EQ(ranges[0].min, (Shape{low, 6, 1}));
    EXPECT_EQ(ranges[0].opt, (Shape{extent, 6, 1}));
    EXPECT_EQ(ranges[0].max, (Shape{high, 6, 1}));
    EXPECT_TRUE(fit(ranges, seen));
    EXPECT_EQ(exact(ranges), low == high);
    EXPECT_EQ(fit(ranges, Shapes{{high + 1, 6, 1}}), false);
    EXPECT_EQ(fit(ranges, Shapes{{low - 1, 6, 1}}), false);
  }
  EXPECT_LT(width(exactly(Shapes{{3, 6, 1}})), width(around(inputs, Shapes{{3, 6, 1}})));
  EXPECT_EQ(text_of(inputs, around(inputs, Shapes{{37, 6, 1}})), "x 32x6x1 to 64x6x1 (37x6x1)");
  EXPECT_EQ(text_of({}, {}), "the model's own shapes");
}

}  // namespace
}  // namespace tenfold::background
