// One value that is not finite is found wherever it stands.
#include "ir/finite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace tenfold::ir {
namespace {

template <class T>
void finds_everywhere(DType type, T bad, T largest) {
  for (const std::int64_t count : {1, 63, 1024, 2048 + 5}) {
    Tensor t(type, {count});
    T* const values = static_cast<T*>(t.mutable_raw());
    std::fill(values, values + count, largest);
    EXPECT_TRUE(all_finite(t));
    for (std::int64_t i = 0; i < count; ++i) {
      values[i] = bad;
      ASSERT_FALSE(all_finite(t)) << i << " of " << count;
      values[i] = largest;
    }
  }
}

TEST(Finite, FindsOneAnywhere) {
  finds_everywhere<float>(DType::f32, -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::max());
  finds_everywhere<float>(DType::f32, std::numeric_limits<float>::quiet_NaN(), -0.f);
  finds_everywhere<double>(DType::f64, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::max());
  finds_everywhere<std::uint16_t>(DType::f16, 0x7c00, 0xfbff);
  finds_everywhere<std::uint16_t>(DType::bf16, 0xff80, 0x7f7f);
}

}  // namespace
}  // namespace tenfold::ir
