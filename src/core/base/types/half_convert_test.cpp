// Many at once are what they are one by one: all kinds of floats, at every place.
#include "base/types/half_convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "base/types/half.h"

namespace tenfold {
namespace {

TEST(Halves, AgreeWithSingleConversions) {
  std::vector<float> from;
  for (std::uint32_t high = 0; high < 0x10000; ++high)
    for (std::uint32_t low : {0x0u, 0x1000u, 0x1001u, 0x2fffu, 0xffffu}) from.push_back(std::bit_cast<float>(high << 16 | low));
  std::vector<std::uint16_t> to(from.size() + 1, 0x1234);
  floats_to_fp16(from.data(), to.data(), from.size());
  for (std::size_t i = 0; i < from.size(); ++i) ASSERT_EQ(to[i], float_to_half(from[i])) << std::bit_cast<std::uint32_t>(from[i]);
  EXPECT_EQ(to.back(), 0x1234);
  std::uint16_t three[3] = {};
  floats_to_fp16(from.data() + 5 * 0x3f80, three, 3);
  EXPECT_EQ(three[2], float_to_half(from[5 * 0x3f80 + 2]));
}

TEST(Halves, AgreeInBf16AndBack) {
  std::vector<float> from;
  for (std::uint32_t high = 0; high < 0x10000; ++high)
    for (std::uint32_t low : {0x0u, 0x1u, 0x7fffu, 0x8000u, 0x8001u}) from.push_back(std::bit_cast<float>(high << 16 | low));
  std::vector<std::uint16_t> to(from.size()), all(0x10000);
  floats_to_bf16(from.data(), to.data(), from.size());
  for (std::size_t i = 0; i < from.size(); ++i) ASSERT_EQ(to[i], float_to_bf16(from[i])) << std::bit_cast<std::uint32_t>(from[i]);
  for (std::uint32_t i = 0; i < 0x10000; ++i) all[i] = static_cast<std::uint16_t>(i);
  std::vector<float> halves(all.size()), brains(all.size());
  fp16_to_floats(all.data(), halves.data(), all.size());
  bf16_to_floats(all.data(), brains.data(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(halves[i]), std::bit_cast<std::uint32_t>(half_to_float(all[i]))) << i;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(brains[i]), std::bit_cast<std::uint32_t>(bf16_to_float(all[i]))) << i;
  }
}

}  // namespace
}  // namespace tenfold
