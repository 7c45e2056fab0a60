// Loops of this processor beside the plain ones: equal bits, also where rows are no whole vectors.
#include "windows/blend_kernels.h"

#include <gtest/gtest.h>

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

TEST(BlendKernels, DivideGivesTheLeastWeight) {
  const std::vector<float> sums = some(37, 4);
  std::vector<float> weights = some(37, 5), means(37);
  weights[21] = -9;
  EXPECT_EQ(blend_kernels().divide(sums.data(), weights.data(), means.data(), 37), -9);
  for (std::size_t i = 0; i < 37; ++i) EXPECT_EQ(means[i], sums[i] / weights[i]);
  std::vector<float> in_place = sums;
  blend_kernels().divide(in_place.data(), weights.data(), in_place.data(), 37);
  EXPECT_EQ(in_place, means);
}

}  // namespace
}  // namespace tenfold::windows
