// Loops of this processor beside the plain ones: equal bits, also where rows are no whole vectors.
#include "windows/blend_kernels.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace tenfold::windows {
namespace {

std::vector<float> some(std::size_t count, unsigned seed) {
  std::vector<float> values(count);
  for (float& v : values) seed = seed * 1664525u + 1013904223u, v = static_cast<float>(seed >> 8) * 0x1p-20f - 8;
  return values;
}

TEST(BlendKernels, AddRowsAsWritten) {
  for (const std::int64_t count : {1, 7, 16, 33, 64})
    for (const bool weighed : {false, true}) {
      const std::int64_t fresh = count - count / 3;
      const std::int64_t rows = 3, stride = count + 5;
      const std::vector<float> values = some(static_cast<std::size_t>(rows * count), 1),
                               weights = some(static_cast<std::size_t>(rows * count), 2);
      std::vector<float> sums = some(static_cast<std::size_t>(rows * stride), 3), expected = sums;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t i = 0; i < count; ++i) {
          const auto from = static_cast<std::size_t>(r * count + i);
          const volatile float product = weighed ? values[from] * weights[from] : values[from];   // rounded
          float& sum = expected[static_cast<std::size_t>(r * stride + i)];
          sum = i < fresh ? sum + product : product;
        }
      blend_kernels().add({sums.data(), values.data(), weighed ? weights.data() : nullptr, stride, count, rows, count, fresh});
      EXPECT_EQ(sums, expected) << count;
    }
}

// Sums of up to two divisors; the same as adding first and dividing then.
TEST(BlendKernels, TheLastSumsBecomeMeans) {
  const std::int64_t rows = 3, count = 41, stride = 45;
  const std::vector<float> values = some(static_cast<std::size_t>(rows * count), 1);
  std::vector<float> first = some(static_cast<std::size_t>(rows * stride), 6), second = some(first.size(), 7);
  for (float& d : first) d = d * d + 1;
  for (float& d : second) d = d * d;
  for (const std::int64_t last : {11, 25, 41})
    for (const std::int64_t fresh : {0, 20, 41})
      for (const bool both : {false, true}) {
        std::vector<float> sums = some(first.size(), 3), expected = sums;
        AddRows add{expected.data(), values.data(), nullptr, stride, count, rows, count, fresh};
        blend_kernels().add(add);
        for (std::int64_t i = 0; i < rows * stride; ++i)
          if (i % stride < last) {
            const auto at = static_cast<std::size_t>(i);
            expected[at] /= both ? first[at] + second[at] : first[at];
          }
        add.sums = sums.data(), add.last = last;
        add.divisors[0] = first.data(), add.divisors[1] = both ? second.data() : nullptr;
        blend_kernels().add(add);
        EXPECT_EQ(sums, expected) << last << ' ' << fresh;
      }
}

TEST(BlendKernels, DivideAlsoInPlace) {
  const std::vector<float> sums = some(37, 4);
  std::vector<float> weights = some(37, 5), means(37);
  blend_kernels().divide(sums.data(), weights.data(), means.data(), 37);
  for (std::size_t i = 0; i < 37; ++i) EXPECT_EQ(means[i], sums[i] / weights[i]);
  std::vector<float> in_place = sums;
  blend_kernels().divide(in_place.data(), weights.data(), in_place.data(), 37);
  EXPECT_EQ(in_place, means);
}

TEST(BlendKernels, OneThatIsNotPositiveIsFound) {
  std::vector<float> values(37, 0.5f);
  EXPECT_TRUE(blend_kernels().positive(values.data(), 37));
  for (const std::size_t at : {0, 21, 36})
    for (const float bad : {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN()}) {
      values[at] = bad;
      EXPECT_FALSE(blend_kernels().positive(values.data(), 37));
      values[at] = 0.5f;
    }
}

}  // namespace
}  // namespace tenfold::windows
