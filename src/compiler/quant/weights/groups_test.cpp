// Weights in groups: errors beside plain rounding, GPTQ beside its own aim, and what no numbers come out of.
#include "quant/weights/groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/cases.h"
#include "quant/weights/channels.h"

namespace tenfold::quant {
namespace {

Columns random_columns(std::int64_t rows, std::int64_t columns) {
  const Tensor t = ops::random_tensor(DType::f32, {columns, rows}, 7, -1, 1);
  return {rows, columns, {t.data<float>(), t.data<float>() + t.size()}};
}

double squared_error(const Columns& w, const GroupedWeights& q, std::int64_t group) {
  double sum = 0;
  for (std::int64_t c = 0; c < w.columns; ++c)
    for (std::int64_t r = 0; r < w.rows; ++r)
      sum += std::pow(q.at(r, c, group) - static_cast<double>(w.values[static_cast<std::size_t>(c * w.rows + r)]), 2);
  return sum;
}

// Of data whose columns go together in pairs.
struct Data {
  std::int64_t rows = 200, size;
  std::vector<float> x;
  Moments moments;
  explicit Data(std::int64_t n) : size(n), moments(n) {
    const Tensor noise = ops::random_tensor(DType::f32, {rows, n}, 11, -1, 1);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t i = 0; i < n; ++i) {
        const float own = noise.data<float>()[r * n + i], pair = noise.data<float>()[r * n + i / 2 * 2];
        x.push_back((0.3F * own + pair) * (i % 5 == 0 ? 6.0F : 1.0F));
      }
    moments.add(x.data(), rows);
  }
  // Of the product's results.
  double error(const Columns& w, const GroupedWeights& q, std::int64_t group) const {
    double sum = 0;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < w.columns; ++c) {
        double off = 0;
        for (std::int64_t i = 0; i < size; ++i)
          off += static_cast<double>(x[static_cast<std::size_t>(r * size + i)]) *
                 (q.at(i, c, group) - static_cast<double>(w.values[static_cast<std::size_t>(c * size + i)]));
        sum += off * off;
      }
    return sum;
  }
};

TEST(GroupedWeights, ScalesOfTheLeastSquaredErrorAreBetterThanThoseOfTheRange) {
  for (const bool around_zero : {false, true})
    for (const std::int64_t group : {16, 32, 7}) {
      const GroupForm form{.bits = 4, .group = group, .around_zero = around_zero};
      const Columns w = random_columns(64, 9);
      const GroupedWeights q = round_to_nearest(w, form);
      EXPECT_EQ(q.groups, (64 + group - 1) / group);
      double plain = 0;
      for (std::int64_t c = 0; c < w.columns; ++c)
        for (std::int64_t first = 0; first < w.rows; first += group) {
          double low = 0, high = 0;
          const std::int64_t end = std::min(first + group, w.rows);
          for (std::int64_t r = first; r < end; ++r) {
            const auto x = static_cast<double>(w.column(c)[static_cast<std::size_t>(r)]);
            low = std::min(low, x), high = std::max(high, x);
          }
          const double step = around_zero ? std::max(-low, high) / 7 : (high - low) / 15;
          const double zero = around_zero ? 8 : std::nearbyint(-low / step);
          for (std::int64_t r = first; r < end; ++r) {
            const auto x = static_cast<double>(w.column(c)[static_cast<std::size_t>(r)]);
            plain += std::pow((std::clamp(std::nearbyint(x / step) + zero, 0.0, 15.0) - zero) * step - x, 2);
          }
        }
      EXPECT_LT(squared_error(w, q, group), plain * (1 + 1e-6));
      if (around_zero) {
        EXPECT_EQ(q.zeros, std::vector<std::uint8_t>(q.zeros.size(), 8));
      }
    }
}

TEST(GroupedWeights, GptqLessensTheErrorOfResultsAndNotThatOfWeights) {
  const Columns w = random_columns(40, 12);
  const Data data(40);
  for (const int bits : {4, 8}) {
    const GroupForm form{.bits = bits, .group = 10};
    const GroupedWeights nearest = round_to_nearest(w, form), gptq = round_by_gptq(w, data.moments, form);
    EXPECT_LT(data.error(w, gptq, form.group), 0.6 * data.error(w, nearest, form.group));
    EXPECT_GT(squared_error(w, gptq, form.group), squared_error(w, nearest, form.group));
  }
}

TEST(GroupedWeights, AwqDividesWhatItMultiplies) {
  const Columns w = random_columns(40, 12);
  const Data data(40);
  const std::vector<float> factors = awq_factors(data.moments);
  EXPECT_GT(factors[5], 1.2F * factors[6]);  // its data are six times as large
  const Moments divided = data.moments.divided(factors);
  EXPECT_NEAR(static_cast<double>(divided.of_group(0)[5 * 40 + 6] * factors[5] * factors[6]),
              static_cast<double>(data.moments.of_group(0)[5 * 40 + 6]), 1e-2);
  const GroupForm form{.bits = 4, .group = 10};
  const GroupedWeights q = round_by_awq(w, data.moments, form);
  double off = 0;
  for (std::int64_t c = 0; c < w.columns; ++c)
    for (std::int64_t r = 0; r < w.rows; ++r) {
      const auto factor = static_cast<double>(factors[static_cast<std::size_t>(r)]);
      off += std::pow(q.at(r, c, form.group) / factor - static_cast<double>(w.values[static_cast<std::size_t>(c * w.rows + r)]), 2);
    }
  EXPECT_LT(off, 4 * squared_error(w, round_to_nearest(w, form), form.group));
}

TEST(GroupedWeights, DataThatSayNothingLeaveTheNearest) {
  const Columns w = random_columns(32, 3);
  const GroupForm form{};
  Moments moments(32);
  EXPECT_EQ(round_by_gptq(w, moments, form).values, round_to_nearest(w, form).values);   // nothing but zeros
  std::vector<float> row(32, 1);
  row[5] = std::numeric_limits<float>::quiet_NaN();
  moments.add(row.data(), 1);
  EXPECT_EQ(round_by_gptq(w, moments, form).values, round_to_nearest(w, form).values);
}

TEST(GroupedWeights, ZerosAndDenormalsHaveAScale) {
  Columns w{32, 2, std::vector<float>(64)};
  w.values[40] = 1e-42F;
  for (const bool around_zero : {false, true}) {
    const GroupForm form{.around_zero = around_zero};
    const GroupedWeights q = round_to_nearest(w, form);
    for (const float scale : q.scales) EXPECT_TRUE(std::isnormal(scale));
    EXPECT_EQ(q.at(0, 0, form.group), 0);
    EXPECT_EQ(q.at(8, 1, form.group), 0);
  }
}

TEST(ChannelWeights, E4m3AndSevenBits) {
  const Tensor w = ops::random_tensor(DType::f32, {4, 3, 5}, 3, -2, 2);
  for (const int axis : {0, 1, 2}) {
    const std::int64_t inner = axis == 0 ? 15 : axis == 1 ? 5 : 1, channels = w.shape()[static_cast<std::size_t>(axis)];
    const QuantizedWeights e4m3 = quantize_weights(w, axis, WeightForm::e4m3), seven = quantize_weights(w, axis, WeightForm::seven_bits);
    ASSERT_EQ(e4m3.scales.size(), channels);
    for (std::int64_t i = 0; i < w.size(); ++i) {
      const std::int64_t c = i / inner % channels;
      const double x = w.as_double(i);
      EXPECT_NEAR(e4m3.values.as_double(i) * e4m3.scales.as_double(c), x, std::fabs(x) / 16 + e4m3.scales.as_double(c) / 512);
      EXPECT_NEAR(static_cast<double>(seven.values.as_int(i)) * seven.scales.as_double(c), x, 0.06);
      EXPECT_TRUE(seven.values.as_int(i) >= -64 && seven.values.as_int(i) <= 63);
    }
  }
}

}  // namespace
}  // namespace tenfold::quant
