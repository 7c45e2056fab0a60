// Weight maps: what MONAI 1.6 prints, and torch's nearest-exact.
#include "windows/weights.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenfold::windows {
namespace {

TEST(Weights, AGaussianIsClampedBelow) {
  const std::int64_t roi[] = {5, 4};
  const double scale[] = {0.125, 0.4};
  const std::vector<float> map = gaussian_weights(roi, scale);
  ASSERT_EQ(map.size(), 20u);
  const auto exact = [](double y, double x) {
    return std::exp(-y * y / (2 * 0.625 * 0.625) - x * x / (2 * 1.6 * 1.6));
  };
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 4; ++x)
      EXPECT_NEAR(map[static_cast<std::size_t>(y * 4 + x)], std::max(exact(y - 2, x - 1.5), exact(2, 1.5)), 1e-6);
  const std::int64_t narrow[] = {64};
  const double thin[] = {0.01};
  EXPECT_EQ(gaussian_weights(narrow, thin).front(), 1e-3f);
}

TEST(Weights, ResizedToTheNearest) {
  const float map[] = {1, 2, 3, 4, 5, 6};
  const std::int64_t from[] = {2, 3}, wide[] = {2, 6}, small[] = {1, 2};
  EXPECT_EQ(resize_weights(map, from, wide), (std::vector<float>{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}));
  EXPECT_EQ(resize_weights(map, from, small), (std::vector<float>{4, 6}));
}

}  // namespace
}  // namespace tenfold::windows
