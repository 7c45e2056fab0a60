// 16-bit floats against NumPy's float16 and ml_dtypes' bfloat16.
#include "formats/arrays/half_bits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenfold::formats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

TEST(HalfBits, Fp16AsNumPy) {
  const std::pair<double, int> cases[] = {
      {0.0, 0}, {-0.0, 0x8000}, {1, 0x3C00}, {-2, 0xC000}, {1.0 / 3, 0x3555}, {0.1, 0x2E66}, {2049, 0x6800}, {2051, 0x6802},
      {1 + 0x1p-11, 0x3C00}, {1 + 3 * 0x1p-11, 0x3C02},                                    // ties go to even
      {65504, 0x7BFF}, {65519.99, 0x7BFF}, {65520, 0x7C00}, {1e9, 0x7C00}, {kInfinity, 0x7C00}, {-kInfinity, 0xFC00}, {kNan, 0x7E00},
      {0x1p-14, 0x400}, {0x1p-14 - 0x1p-26, 0x400}, {0x1p-24, 1}, {0x1p-25, 0}, {0x1p-25 * 1.000001, 1}};
  for (const auto& [value, bits] : cases) EXPECT_EQ(f16_bits(value), bits) << value;
}

TEST(HalfBits, Bf16AsMlDtypes) {
  const std::pair<double, int> cases[] = {
      {1, 0x3F80}, {1.0 / 3, 0x3EAB}, {-0.1, 0xBDCD}, {1 + 0x1p-8, 0x3F80}, {1 + 3 * 0x1p-8, 0x3F82}, {3.3895313892515355e38, 0x7F7F},
      {3.4e38, 0x7F80}, {1e39, 0x7F80}, {kNan, 0x7FC0}, {0x1p-126, 0x80}, {0x1p-133, 1}, {0x1p-134, 0}};
  for (const auto& [value, bits] : cases) EXPECT_EQ(bf16_bits(value), bits) << value;
}

}  // namespace
}  // namespace tenfold::formats
