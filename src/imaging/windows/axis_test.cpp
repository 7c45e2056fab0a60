// Places of windows beside those of MONAI 1.6 and nnU-Net, as both print them.
#include "windows/axis.h"

#include <gtest/gtest.h>

#include "tenfold/error.h"

namespace tenfold::windows {
namespace {

using Starts = std::vector<std::int64_t>;

TEST(Axis, FixedStepsEndWithTheImage) {
  const auto starts = [](std::int64_t image, std::int64_t roi, double overlap) {
    return make_axis(image, roi, overlap, 0, WindowPlacement::fixed_step).starts;
  };
  EXPECT_EQ(starts(100, 32, 0.25), (Starts{0, 24, 48, 68}));
  EXPECT_EQ(starts(96, 32, 0), (Starts{0, 32, 64}));
  EXPECT_EQ(starts(32, 32, 0.9), (Starts{0}));
  EXPECT_EQ(starts(7, 0, 0.5), (Starts{0}));
  EXPECT_EQ(starts(5, 2, 0.9), (Starts{0, 1, 2, 3}));           // a step of 0 is 1
  EXPECT_EQ(starts(40, 10, 0.3), (Starts{0, 7, 14, 21, 28, 30}));   // 10 * (1 - 0.3) is 7 in double
  EXPECT_EQ(starts(25, 10, 0.9), (Starts{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
}

TEST(Axis, EvenStepsAreRoundedHalfToEven) {
  EXPECT_EQ(make_axis(110, 64, 0.5, 0, WindowPlacement::even).starts, (Starts{0, 23, 46}));
  EXPECT_EQ(make_axis(69, 64, 0.5, 0, WindowPlacement::even).starts, (Starts{0, 5}));
  EXPECT_EQ(make_axis(15, 10, 0.75, 0, WindowPlacement::even).starts, (Starts{0, 2, 5}));   // 2.5 is 2
}

TEST(Axis, AHaloKeepsWindowsTogether) {
  const Axis axis = make_axis(40, 10, 0, 2, WindowPlacement::fixed_step);
  EXPECT_EQ(axis.starts, (Starts{0, 6, 12, 18, 24, 30}));
  EXPECT_THROW(make_axis(40, 10, 0, 5, WindowPlacement::fixed_step), Error);
}

TEST(Axis, PaddingHasLessInFront) {
  const Axis axis = make_axis(4, 9, 0.5, 0, WindowPlacement::fixed_step);
  EXPECT_EQ(axis.before, 2);
  EXPECT_EQ(axis.padded, 9);
  EXPECT_EQ(padding_map(axis, WindowPadding::constant), (Starts{-1, -1, 0, 1, 2, 3, -1, -1, -1}));
  EXPECT_EQ(padding_map(axis, WindowPadding::replicate), (Starts{0, 0, 0, 1, 2, 3, 3, 3, 3}));
  EXPECT_EQ(padding_map(axis, WindowPadding::reflect), (Starts{2, 1, 0, 1, 2, 3, 2, 1, 0}));
  EXPECT_EQ(padding_map(axis, WindowPadding::circular), (Starts{2, 3, 0, 1, 2, 3, 0, 1, 2}));
  EXPECT_THROW(padding_map(make_axis(3, 9, 0.5, 0, WindowPlacement::fixed_step), WindowPadding::reflect), Error);
}

TEST(Axis, OutputsOfAnotherResolution) {
  const OutputAxis half = output_axis(make_axis(100, 32, 0.25, 0, WindowPlacement::fixed_step), 16);
  EXPECT_EQ(half.starts, (Starts{0, 12, 24, 34}));
  EXPECT_EQ(half.padded, 50);
  const OutputAxis padded = output_axis(make_axis(5, 8, 0, 0, WindowPlacement::fixed_step), 4);
  EXPECT_EQ(padded.crop_begin, 0);   // half of 1, rounded half to even
  EXPECT_EQ(padded.crop_end, 3);
  // 49 * (1 / 49.) is less than 1 in double: whole numbers do not lose the last voxel.
  EXPECT_EQ(output_axis(make_axis(98, 49, 0, 0, WindowPlacement::fixed_step), 1).starts, (Starts{0, 1}));
}

}  // namespace
}  // namespace tenfold::windows
