// Tests of extents at given sizes.
#include "report/extent.h"

#include <gtest/gtest.h>

namespace tenfold::cli {
namespace {

const Sizes kSizes{{"batch", 8}, {"w", 225}, {"unk__1", -3}};

TEST(Extent, Expressions) {
  EXPECT_EQ(extent_at("384", kSizes), 384);
  EXPECT_EQ(extent_at("2*batch*w + 1", kSizes), 3601);
  EXPECT_EQ(extent_at("floor_div(w - 1, 2)", kSizes), 112);
  EXPECT_EQ(extent_at("ceil_div(w, 16)*16 - batch", kSizes), 232);
  EXPECT_EQ(extent_at("max(min(w, 3), mod(w, 16), batch)", kSizes), 8);
  EXPECT_EQ(extent_at("-2*(unk__1 - 1)", kSizes), 8);
  EXPECT_EQ(extent_at("floor_div(unk__1, 2)", kSizes), -2);
  EXPECT_EQ(extent_at("mod(unk__1, 2)", kSizes), 1);
  EXPECT_EQ(extent_at("ceil_div(unk__1, 2)", kSizes), -1);
}

TEST(Extent, NothingWhereItIsNotKnown) {
  for (const char* text : {"", "height", "2*height", "floor_div(w, 0)", "other(w, 2)", "(w", "w)", "w w", "9223372036854775807 + 1",
                           "9223372036854775807*2", "min(w, height)"})
    EXPECT_FALSE(extent_at(text, kSizes)) << text;
  EXPECT_FALSE(extent_at(std::string(100000, '('), kSizes));
}

TEST(Extent, ListsOfDims) {
  const auto extents = extents_at("batch,max(w, 3),height,4", kSizes);
  ASSERT_EQ(extents.size(), 4u);
  EXPECT_EQ(extents[0], 8);
  EXPECT_EQ(extents[1], 225);
  EXPECT_FALSE(extents[2]);
  EXPECT_EQ(extents[3], 4);
  EXPECT_TRUE(extents_at("", kSizes).empty());  // a scalar
}

}  // namespace
}  // namespace tenfold::cli
