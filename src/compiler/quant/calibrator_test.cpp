// Histograms against the data that went into them; calibrators against what sorting or trying every range gives.
#include "quant/calibrator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tenfold/error.h"

namespace tenfold::quant {
namespace {

std::vector<float> normal(std::size_t count, float mean, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> spread(mean, 1);
  std::vector<float> values(count);
  for (float& v : values) v = spread(random);
  return values;
}

Histogram of(const std::vector<float>& values, std::size_t step = 1000) {
  Histogram h;
  for (std::size_t i = 0; i < values.size(); i += step) h.add(std::span(values).subspan(i, std::min(step, values.size() - i)));
  return h;
}

double rounding_error(const std::vector<float>& values, double low, double high, int levels) {
  const double step = (high - low) / (levels - 1), zero = std::round(-low / step);
  double sum = 0;
  for (const float x : values) {
    const double q = std::clamp(std::round(x / step) + zero, 0.0, levels - 1.0);
    sum += std::pow((q - zero) * step - static_cast<double>(x), 2);
  }
  return sum / static_cast<double>(values.size());
}

TEST(Histogram, CountsEveryElementOnceWhateverTheOrder) {
  std::vector<float> values = normal(20000, 0, 1);
  values[7] = 0, values[8] = 300;
  const Histogram h = of(values);
  std::sort(values.begin(), values.end());
  const Histogram sorted = of(values, 777);
  EXPECT_EQ(h.count(), 20000);
  EXPECT_EQ(h.zeros(), 1);
  EXPECT_EQ(h.high(), 300.0);
  EXPECT_EQ(h.low(), static_cast<double>(values.front()));
  std::int64_t in_bins = 0;
  for (std::size_t b = 0; b < h.bins().size(); ++b) {
    in_bins += h.bins()[b];
    EXPECT_EQ(h.bins()[b], sorted.bins()[b]) << b;
    const double low = h.center(static_cast<int>(b)) - h.width() / 2;
    const auto inside = std::count_if(values.begin(), values.end(), [&](float x) {
      return x != 0 && static_cast<double>(x) >= low && static_cast<double>(x) < low + h.width();
    });
    EXPECT_EQ(h.bins()[b], inside) << b;
  }
  EXPECT_EQ(in_bins + h.zeros(), h.count());
}

TEST(Histogram, LeavesOutWhatIsNotFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  const Histogram h = of({1, inf, -inf, std::nanf(""), -2});
  EXPECT_EQ(h.count(), 2);
  EXPECT_EQ(h.not_finite(), 3);
  EXPECT_EQ(h.low(), -2);
  EXPECT_EQ(h.high(), 1);
}

TEST(Histogram, OfZerosOrNothingHasNoRange) {
  for (const Histogram& h : {of({}), of({0, 0, 0})})
    for (const Calibrator& c : calibrators()) EXPECT_EQ(c.range(h, {}), Range{}) << c.name;
}

TEST(Histogram, TakesTheLargestAndTheSmallestFloats) {
  const float max = std::numeric_limits<float>::max(), min = std::numeric_limits<float>::denorm_min();
  for (const Calibrator& c : calibrators()) {
    const Range r = c.range(of({min, -min, max, -max, 1}), {});
    EXPECT_LE(r.low, 0) << c.name;
    EXPECT_GE(r.high, 0) << c.name;
    EXPECT_TRUE(std::isfinite(r.high - r.low)) << c.name;
  }
}

TEST(Calibrator, MinmaxIsWhatWasSeen) {
  EXPECT_EQ(calibrator("minmax").range(of({-3, 5, 0.5}), {}), (Range{-3, 5}));
  EXPECT_EQ(calibrator("minmax").range(of({2, 5}), {}), (Range{0, 5}));
}

TEST(Calibrator, PercentileLeavesOutWhatSortingLeavesOut) {
  std::vector<float> values = normal(200000, 0.5, 2);
  const Histogram h = of(values);
  const Range r = calibrator("percentile").range(h, {});
  std::sort(values.begin(), values.end());
  EXPECT_NEAR(r.low, static_cast<double>(values[10]), 2 * h.width());                    // 0.005 % at each end
  EXPECT_NEAR(r.high, static_cast<double>(values[values.size() - 11]), 2 * h.width());
}

TEST(Calibrator, MseIsAsGoodAsAnyRangeOfTheData) {
  std::vector<float> values = normal(20000, 0.3, 3);
  const Range r = calibrator("mse").range(of(values), {});
  double min = 1e9;
  for (double low = -5; low < -1; low += 0.1)
    for (double high = 1; high < 6; high += 0.1) min = std::min(min, rounding_error(values, low, high, 256));
  EXPECT_LE(rounding_error(values, r.low, r.high, 256), min * 1.05);
}

TEST(Calibrator, MseAroundZeroUsesOneMagnitude) {
  const std::vector<float> values = normal(20000, 0, 4);
  const Grid grid{255, true};
  const Range r = calibrator("mse").range(of(values), grid);
  const double max = std::max(r.high, -r.low);
  double min = 1e9;
  for (double high = 1; high < 6; high += 0.05) min = std::min(min, rounding_error(values, -high, high, 255));
  EXPECT_LE(rounding_error(values, -max, max, 255), min * 1.05);
}

// Migacz's own argument: rare outliers are clipped, a flat distribution is not.
TEST(Calibrator, EntropyClipsOutliersAndKeepsWhatIsFlat) {
  std::vector<float> values = normal(100000, 0, 5);
  values[0] = 100;
  const Range r = calibrator("entropy").range(of(values), {});
  EXPECT_LT(r.high, 10);
  EXPECT_GT(r.high, 2);
  std::mt19937 random(6);
  std::uniform_real_distribution<float> flat(0, 1);
  for (float& v : values) v = flat(random);
  EXPECT_GT(calibrator("entropy").range(of(values), {}).high, 0.95);
}

TEST(Calibrator, AnUnknownOneIsRefusedWithTheNames) {
  try {
    calibrator("median");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(std::string(e.what()).find("entropy, minmax, mse, percentile"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace tenfold::quant
