// This processor's loops give the same bits as the plain ones, and these what is written down.
#include "backends/cpu/gemm/f32/fixed_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace tenfold::backends::cpu {
namespace {

std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& v : values) v = std::ldexp(normal(random), static_cast<int>(random() % 20) - 10);
  return values;
}

TEST(FixedRows, SumsOfSquaresAndSteps) {
  for (const std::int64_t count : {1, 15, 16, 17, 100, 768}) {
    const std::vector<float> row = random_values(static_cast<std::size_t>(count), 1);
    const double sum = fixed_rows().squares(row.data(), count);
    double expected = 0;
    for (const float v : row) expected += double{v} * double{v};
    EXPECT_EQ(sum, portable_fixed_rows().squares(row.data(), count));
    EXPECT_NEAR(sum / expected, 1, 1e-12);
    std::vector<float> step = random_values(row.size(), 2), plain = step;
    for (float& s : step) s = std::abs(s);
    plain = step;
    const std::vector<float> before = step;
    fixed_rows().raise(row.data(), count, 0.7f, step.data());
    portable_fixed_rows().raise(row.data(), count, 0.7f, plain.data());
    EXPECT_EQ(step, plain);
    for (std::size_t i = 0; i < row.size(); ++i) EXPECT_EQ(plain[i], std::max(before[i], std::abs(row[i]) / 0.7f));
  }
  const float infinite[3] = {1, HUGE_VALF, 2};
  EXPECT_FALSE(std::isfinite(fixed_rows().squares(infinite, 3)));
}

TEST(FixedRows, BytesStandForTheNearestInteger) {
  constexpr std::int64_t kLines = 5, kColumns = kLines * 16, kStride = kColumns + 3, kPanel = 2048 * 3;
  constexpr int kLargest = 0x7f7f7e;
  const std::vector<float> values = random_values(4 * kStride, 3);
  const double rows[4] = {0.5, 1.5, 3, 1e-3};
  std::vector<double> columns;
  for (std::int64_t n = 0; n < kColumns; ++n) columns.push_back(n == 7 ? 0 : 1e4 * (1 + static_cast<double>(n)));
  std::vector<char> to(3 * kPanel, 1), plain = to;
  const auto four = [&](std::vector<char>& bytes) {
    return FixedRows::Four{.from = values.data(), .stride = kStride, .lines = kLines, .panel = kPanel, .rows = rows,
                           .columns = columns.data(), .largest = kLargest, .to = bytes.data()};
  };
  fixed_rows().bytes(four(to)), portable_fixed_rows().bytes(four(plain));
  EXPECT_EQ(to, plain);
  bool clamped = false;
  for (std::int64_t r = 0; r < 4; ++r)
    for (std::int64_t n = 0; n < kColumns; ++n) {
      const char* const at = plain.data() + n / 32 * kPanel + n % 32 / 16 * 1024 + n % 16 * 4 + r;
      const auto byte = [&](int i) { return int{static_cast<signed char>(at[i * 2048])}; };
      const double exact = double{values[static_cast<std::size_t>(r * kStride + n)]} * rows[r] * columns[static_cast<std::size_t>(n)];
      clamped |= std::abs(exact) > kLargest;
      EXPECT_EQ(byte(0) * 65536 + byte(1) * 256 + byte(2), std::nearbyint(std::clamp(exact, -double{kLargest}, double{kLargest})));
    }
  EXPECT_TRUE(clamped);
}

}  // namespace
}  // namespace tenfold::backends::cpu
