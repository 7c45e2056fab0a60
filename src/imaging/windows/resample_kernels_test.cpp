// Loops of this processor beside plain ones: equal bits, also where rows are no whole vectors.
#include "windows/resample_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tenfold::windows {
namespace {

std::vector<float> some(std::size_t count, unsigned seed) {
  std::vector<float> values(count);
  for (float& v : values) seed = seed * 1664525u + 1013904223u, v = static_cast<float>(seed >> 8) * 0x1p-20f - 8;
  return values;
}
float mixed(float first, float second, float weight) {
  const volatile float one = first * (1 - weight), other = second * weight;   // rounded
  return one + other;
}

TEST(ResampleKernels, MixAndGatherAsWritten) {
  for (const std::size_t count : {1, 7, 16, 33, 150}) {
    const std::vector<float> first = some(count, 1), second = some(count, 2);
    std::vector<float> found(count), weights = some(count, 3);
    resample_kernels().mix(first.data(), second.data(), 0.3f, found.data(), static_cast<std::int64_t>(count));
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(found[i], mixed(first[i], second[i], 0.3f));
    std::vector<std::int32_t> from, to;
    for (std::size_t i = 0; i < count; ++i)
      from.push_back(static_cast<std::int32_t>(i * 5 % count)), to.push_back(static_cast<std::int32_t>(i * 3 % count));
    resample_kernels().gather(first.data(), from.data(), to.data(), weights.data(), found.data(),
                              static_cast<std::int64_t>(count));
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_EQ(found[i], mixed(first[i * 5 % count], first[i * 3 % count], weights[i]));
  }
}

template <class Label, class Kernel>
void check_argmax(std::int64_t channels, Kernel kernel) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (const std::int64_t count : {1, 40, 128, 300})
    for (const bool mixes : {false, true}) {
      const std::int64_t stride = count + 3;
      std::vector<float> first = some(static_cast<std::size_t>(channels * stride), 4),
                         second = some(static_cast<std::size_t>(channels * stride), 5);
      for (std::size_t i = 0; i < first.size(); i += 7) first[i] = second[i] = 1;   // equal ones
      for (std::size_t i = 3; i < first.size(); i += 31) first[i] = nan;
      for (std::int64_t c = 0; c < channels; ++c) first[static_cast<std::size_t>(c * stride)] = -infinity;
      std::vector<Label> labels(static_cast<std::size_t>(count));
      kernel({first.data(), mixes ? second.data() : first.data(), 0.75f, channels, stride, count}, labels.data());
      for (std::int64_t i = 0; i < count; ++i) {
        const auto value = [&](std::int64_t c) {
          const auto at = static_cast<std::size_t>(c * stride + i);
          return mixes ? mixed(first[at], second[at], 0.75f) : first[at];
        };
        std::int64_t best = 0;
        for (std::int64_t c = 1; c < channels; ++c)
          if (value(c) > value(best) || (std::isnan(value(c)) && !std::isnan(value(best)))) best = c;
        ASSERT_EQ(labels[static_cast<std::size_t>(i)], static_cast<Label>(best)) << i << ' ' << count << ' ' << mixes;
      }
    }
}

TEST(ResampleKernels, ArgmaxOfMixedRows) {
  check_argmax<std::uint8_t>(5, resample_kernels().argmax_u8);
  check_argmax<std::uint8_t>(1, resample_kernels().argmax_u8);
  check_argmax<std::uint16_t>(270, resample_kernels().argmax_u16);
}

}  // namespace
}  // namespace tenfold::windows
