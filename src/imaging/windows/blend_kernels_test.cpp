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

// A row of three stretches: the first was begun before, two windows cover the second, and the third is fresh.
struct Case {
  bool weighed, finished;   // finished: every voxel is the last one
  std::int64_t count;       // of the windows' rows
  int divisors;
};

void expect_as_written(const Case& one, bool streamed) {
  const std::int64_t rows = 3, count = one.count, shift = count - count / 3, width = shift + count, stride = width + 5;
  const auto size = static_cast<std::size_t>(rows * stride);
  const std::vector<float> left = some(static_cast<std::size_t>(rows * count), 1), right = some(left.size(), 2),
                           weights = some(left.size(), 3);
  std::vector<float> sums = some(size, 4), expected = sums, first = some(size, 6), second = some(size, 7);
  for (float& d : first) d = d * d + 1;
  for (float& d : second) d = d * d;
  std::vector<BlendTerm> terms = {{left.data(), nullptr}, {left.data() + shift, nullptr}, {right.data(), nullptr},
                                  {right.data() + count - shift, nullptr}};
  if (one.weighed)
    for (std::size_t t = 0; t < terms.size(); ++t)
      terms[t].weights = weights.data() + (terms[t].values - (t < 2 ? left : right).data());
  std::vector<BlendStretch> stretches = {{0, shift, 0, 1, false, true},
                                         {shift, count - shift, 1, 2, true, true},
                                         {count, shift, 3, 1, true, one.finished}};
  for (std::int64_t r = 0; r < rows; ++r)
    for (const BlendStretch& s : stretches)
      for (std::int64_t i = 0; i < s.count; ++i) {
        const auto at = static_cast<std::size_t>(r * stride + s.begin + i);
        float& sum = expected[at];
        for (std::int64_t t = 0; t < s.terms; ++t) {
          const BlendTerm& term = terms[static_cast<std::size_t>(s.first_term + t)];
          const float value = term.values[r * count + i];
          const volatile float product = one.weighed ? value * term.weights[r * count + i] : value;   // rounded
          sum = s.fresh && t == 0 ? product : sum + product;
        }
        if (s.last && one.divisors > 0) sum /= one.divisors == 2 ? first[at] + second[at] : first[at];
      }
  std::vector<float> row(static_cast<std::size_t>(width));
  BlendRows blend{sums.data(), rows, stride, count, 1, 0, 0, stretches, terms.data()};
  if (one.divisors > 0) blend.divisors[0] = first.data();
  if (one.divisors > 1) blend.divisors[1] = second.data();
  if (streamed) blend.scratch = row.data();
  blend_kernels().blend(blend);
  EXPECT_EQ(sums, expected) << one.count << ' ' << one.weighed << one.finished << one.divisors << streamed;
}

TEST(BlendKernels, RowsAsWritten) {
  for (const std::int64_t count : {3, 7, 16, 33, 64, 200})
    for (const bool weighed : {false, true})
      for (const int divisors : {0, 1, 2})
        for (const bool finished : {false, true}) {
          expect_as_written({weighed, finished, count, divisors}, false);
          if (finished) expect_as_written({weighed, finished, count, divisors}, true);
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
