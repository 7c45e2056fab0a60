// Sizes of pictures: against Pillow, and against sums by hand.
#include "formats/images/resize.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "formats/formats_for_tests.h"
#include "formats/images/cases_for_tests.h"

namespace tenfold::formats {
namespace {

Pixels source() {
  const std::string bytes = bytes_of(kSource);
  return {9, 7, 3, {bytes.begin(), bytes.end()}};
}

TEST(Resize, LevelsOfPillow) {
  for (const ResizeCase& one : kResized) {
    const Pixels got = resized(source(), one.width, one.height);
    const std::string expected = bytes_of(one.pixels);
    ASSERT_EQ(got.values.size(), expected.size());
    EXPECT_EQ(got.width, one.width);
    EXPECT_EQ(got.height, one.height);
    int off = 0, max = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const int d = std::abs(got.values[i] - static_cast<unsigned char>(expected[i]));
      max = std::max(max, d), off += d > 0;
    }
    // Pillow 13 begins with the columns where it finds that shorter; each pass rounds.
    const bool one_pass = one.width == 9 || one.height == 7;
    EXPECT_LE(max, one_pass ? 0 : 1) << one.width << "x" << one.height;
    EXPECT_LE(off, static_cast<int>(expected.size()) / 2);
  }
}

// A triangle of half width 2 around 1: at 0.5, 1.5 and 2.5 it is 3/4, 3/4 and 1/4.
TEST(Resize, HalfTheWidthByHand) {
  const Pixels line{4, 1, 1, {10, 200, 90, 40}};
  const Pixels got = resized(line, 2, 1);
  const auto level = [](double value) { return static_cast<int>(std::floor(value + 0.5)); };
  EXPECT_EQ(got.values[0], level((3 * 10 + 3 * 200 + 90) / 7.0));
  EXPECT_EQ(got.values[1], level((200 + 3 * 90 + 3 * 40) / 7.0));
}

// Twice the width: quarters of the neighbors, and at the ends the pixel itself.
TEST(Resize, TwiceTheHeightByHand) {
  const Pixels column{1, 2, 1, {100, 200}};
  EXPECT_EQ(resized(column, 1, 4).values, (std::vector<std::uint8_t>{100, 125, 175, 200}));
}

TEST(Resize, OneLevelStaysInAnySize) {
  const Pixels flat{30, 20, 1, std::vector<std::uint8_t>(600, 255)};
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 3}, {61, 47}})
    for (const std::uint8_t level : resized(flat, width, height).values) EXPECT_EQ(level, 255);
}

TEST(Crop, FromTheCenterHalvesToTheEvenSide) {
  std::vector<std::uint8_t> levels;
  for (int i = 0; i < 35; ++i) levels.push_back(static_cast<std::uint8_t>(i));
  const Pixels image{7, 5, 1, levels};
  // 4 of 7: (7 - 4) / 2 = 1.5, which is 2; 3 of 5: 1.
  EXPECT_EQ(cropped(image, 4, 3).values, (std::vector<std::uint8_t>{9, 10, 11, 12, 16, 17, 18, 19, 23, 24, 25, 26}));
  // 2 of 7: 2.5, which is 2.
  EXPECT_EQ(cropped(image, 2, 1).values, (std::vector<std::uint8_t>{16, 17}));
}

TEST(Resize, SizesThatCannotBeAreRefused) {
  const Pixels image{7, 5, 1, std::vector<std::uint8_t>(35)};
  const auto refused = [](auto run) { return refusal(run, ErrorKind::invalid_argument); };
  EXPECT_TRUE(says(refused([&] { resized(image, 0, 3); }), "an image of 7 x 5 pixels cannot be resized to 0 x 3"));
  EXPECT_TRUE(says(refused([&] { cropped(image, 8, 5); }), "an image of 7 x 5 pixels cannot be cropped to 8 x 5"));
  EXPECT_TRUE(says(refused([&] { cropped(image, 7, -1); }), "cropped to 7 x -1"));
}

TEST(Resize, SixteenBitsAsPillowDoes) {
  const auto levels = [](const char* base64) {
    const std::string bytes = bytes_of(base64);
    std::vector<std::uint16_t> all(bytes.size() / 2);
    std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
  };
  const Pixels source{9, 7, 1, {}, levels(kDeepSource)};
  for (const ResizeCase& one : kDeepResized) {
    const Pixels got = resized(source, one.width, one.height);
    const std::vector<std::uint16_t> expected = levels(one.pixels);
    ASSERT_EQ(got.deep.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_LE(std::abs(got.deep[i] - expected[i]), 1) << one.width << " x " << one.height << ", " << i;
  }
  EXPECT_EQ(resized(Pixels{30, 20, 1, {}, std::vector<std::uint16_t>(600, 65535)}, 7, 50).deep, std::vector<std::uint16_t>(350, 65535));
  EXPECT_EQ(cropped(source, 1, 1).deep, std::vector<std::uint16_t>{source.deep[3 * 9 + 4]});
}

}  // namespace
}  // namespace tenfold::formats
