// Maxima of bf16 that are compared as integers: of numbers of both signs, zeros, infinities and NaN of both signs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "backends/cpu/cpu_info.h"
#include "backends/cpu/kernels/pool/pool.h"
#include "backends/device_info.h"
#include "base/types/half.h"

namespace tenfold::backends::cpu {
namespace {

void check(const std::vector<std::uint16_t>& values, std::int64_t channels, const PoolKernels& kernels) {
  constexpr std::int64_t kTaps = 9;
  std::mt19937 random(static_cast<unsigned>(channels));
  std::vector<std::uint16_t> x(static_cast<std::size_t>(kTaps * channels)), out(static_cast<std::size_t>(channels + 1), 0x5555);
  for (std::uint16_t& v : x) v = values[random() % values.size()];
  std::vector<std::int64_t> offsets;
  for (std::int64_t t = 0; t < kTaps; ++t) offsets.push_back(t * channels);
  kernels.max_position_bf16(x.data(), offsets.data(), kTaps, channels, out.data(), 1);
  for (std::int64_t c = 0; c < channels; ++c) {
    float max = -INFINITY;
    bool no_number = false;
    for (std::int64_t t = 0; t < kTaps; ++t) {
      const float v = bf16_to_float(x[static_cast<std::size_t>(t * channels + c)]);
      no_number |= std::isnan(v);
      max = std::max(max, v);
    }
    const float got = bf16_to_float(out[static_cast<std::size_t>(c)]);
    if (no_number)
      EXPECT_TRUE(std::isnan(got)) << c;
    else
      EXPECT_EQ(got, max) << c;
  }
  EXPECT_EQ(out.back(), 0x5555) << "wrote behind the channels";
}

TEST(MaxPoolBf16, IsThatOfNumbers) {
  if (!(this_cpu().features & kAvx512)) GTEST_SKIP() << "this CPU has no AVX-512";
  const std::vector<std::uint16_t> numbers{0x0000, 0x8000, 0x3f80, 0xbf80, 0x3f81, 0xbf81, 0x0001, 0x8001, 0x7f80, 0xff80, 0x4248, 0xc248};
  const std::vector<std::uint16_t> negative{0xbf80, 0xbf81, 0xc248, 0x8001, 0xff80};
  std::vector<std::uint16_t> with_nan = numbers;
  with_nan.insert(with_nan.end(), {0x7fc0, 0xffc0, 0xffff});
  for (const std::int64_t channels : {1, 16, 31, 32, 33, 64, 79})
    for (const auto& values : {numbers, negative, with_nan}) check(values, channels, tenfold_pool_avx512);
}

}  // namespace
}  // namespace tenfold::backends::cpu
