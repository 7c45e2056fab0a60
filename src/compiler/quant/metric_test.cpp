// Metrics against values worked out by hand, and the interval of the bootstrap.
#include "quant/metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tenfold/error.h"

namespace tenfold::quant {
namespace {

Tensor floats(Shape shape, std::vector<float> values) {
  Tensor t(DType::f32, std::move(shape));
  std::copy(values.begin(), values.end(), t.mutable_data<float>());
  return t;
}
double of(std::string_view name, const Tensor& got, const Tensor& expected) {
  const Metric& m = metric(name);
  return m.over({m.of_sample(got, expected)});
}

TEST(Metrics, AreWhatTheirNamesSay) {
  const Tensor expected = floats({2, 3}, {3, 0, 4, 0, 12, 5}), got = floats({2, 3}, {3, 1, 4, 0, 12, 7});
  EXPECT_DOUBLE_EQ(of("l2", got, expected), std::sqrt(5.0 / 194));
  EXPECT_DOUBLE_EQ(of("linf", got, expected), 2.0 / 12);
  const double first = 25 / std::sqrt(25.0 * 26), second = 179 / std::sqrt(169.0 * 193);
  EXPECT_NEAR(of("cosine", got, expected), 1 - (first + second) / 2, 1e-12);
  EXPECT_EQ(of("top1", got, expected), 0);
  EXPECT_EQ(of("top1", floats({2, 3}, {5, 1, 4, 0, 12, 7}), expected), 0.5);   // the first row's is another
}

TEST(Metrics, OfEqualAnswersAreNothing) {
  const Tensor t = floats({4}, {1, 2, 3, 4}), zeros = floats({2, 2}, {0, 0, 0, 0});
  for (const Metric& m : metrics()) {
    EXPECT_EQ(of(m.name, t, t), 0) << m.name;
    EXPECT_EQ(of(m.name, zeros, zeros), 0) << m.name;
    EXPECT_EQ(m.over({}), 0) << m.name;
  }
}

TEST(Metrics, TakeWhatIsNoNumberForTheWorst) {
  const Tensor expected = floats({1, 2}, {1, 2}), got = floats({1, 2}, {1, std::numeric_limits<float>::quiet_NaN()});
  for (const Metric& m : metrics()) EXPECT_FALSE(of(m.name, got, expected) < 1) << m.name;
}

TEST(Metrics, OfFivePlacesLookFurther) {
  const Tensor expected = floats({1, 8}, {0, 0, 0, 0, 0, 0, 0, 9});
  EXPECT_EQ(of("top5", floats({1, 8}, {5, 4, 3, 2, 0, 0, 0, 1}), expected), 0);    // the fifth
  EXPECT_EQ(of("top5", floats({1, 8}, {5, 4, 3, 2, 2, 0, 0, 1}), expected), 1);    // the sixth
}

TEST(Metrics, HaveIntervalsThatNarrowWithSamples) {
  const Metric& m = metric("top1");
  std::vector<SampleError> samples;
  for (int i = 0; i < 20; ++i) samples.push_back({i % 5 == 0 ? 1.0 : 0.0, 1});
  const Estimate few = estimate(m, samples);
  EXPECT_DOUBLE_EQ(few.value, 0.2);
  EXPECT_TRUE(few.low < 0.2 && few.high > 0.2 && few.low >= 0 && few.high < 0.6);
  for (int i = 0; i < 1980; ++i) samples.push_back({i % 5 == 0 ? 1.0 : 0.0, 1});
  const Estimate many = estimate(m, samples);
  EXPECT_NEAR(many.high - many.low, 4 * std::sqrt(0.2 * 0.8 / 2000), 0.01);   // of a binomial distribution
  EXPECT_EQ(estimate(m, samples).low, many.low);                              // the same each time
  EXPECT_EQ(estimate(m, {{1, 1}}).high, 1);
}

TEST(Metrics, ThatAreNotThereAreRefused) { EXPECT_THROW(metric("l3"), Error); }

}  // namespace
}  // namespace tenfold::quant
