// QuantizeLinear in a body is one loop, and that loop is as exact as the operations one by one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/cpu/block/lower.h"
#include "backends/cpu/cpu_info.h"
#include "base/check.h"

namespace tenfold::backends::cpu {
namespace {

// The one item of the body beside constants, or null.
const Item* only_item(const Lowered& program) {
  const Item* found = nullptr;
  for (const Item& item : program.items) {
    if (item.is_constant()) continue;
    if (found) return nullptr;
    found = &item;
  }
  return found;
}

std::vector<float> awkward_values(float scale) {
  std::vector<float> x{0.f, -0.f, 1e-40f, -1e-40f, 3e38f, -3e38f, INFINITY, -INFINITY, NAN};
  for (int half = -600; half <= 600; ++half) {   // both sides of every tie
    const float tie = static_cast<float>(half) / 2 * scale;
    x.insert(x.end(), {tie, std::nextafterf(tie, 1e30f), std::nextafterf(tie, -1e30f)});
  }
  return x;
}

TEST(FuseQuantize, IsOneLoopAndExact) {
  for (const std::uint32_t features : {std::uint32_t{kAvx2}, this_cpu().features})
    for (const float scale : {0.03608216345310211f, 0.1f, 7.f, -0.3f, 1e-20f})
      for (const int zero : {0, 124, -128, 255})
        for (const bool is_signed : {false, true}) {
          const PointwiseTables tables = PointwiseTables::of(features);
          const std::string sum = zero == 0 ? "" : cat(" %4=constant.f32(", zero, ") %5=add.f32(%3,%4)");
          const std::string to = is_signed ? "i8" : "u8", last = zero == 0 ? cat(" %4=saturate.", to, "(%3) -> %4")
                                                                           : cat(" %6=saturate.", to, "(%5) -> %6");
          const Lowered program =
              lower(ir::parse_body(cat("(f32) %1=constant.f32(", scale, ") %2=div.f32(%0,%1) %3=round_even.f32(%2)", sum, last)), tables);
          const Item* item = only_item(program);
          ASSERT_NE(item, nullptr);
          const float by = static_cast<float>(program.item(item->in[1]).value), moved = static_cast<float>(zero);
          const std::vector<float> x = awkward_values(by);
          std::vector<std::uint8_t> y(x.size());
          const PointwiseArg args[] = {{x.data(), 0}, {&by, 0}, {&moved, 0}};
          item->kernel(y.data(), 0, args, 6, 1, static_cast<std::int64_t>(x.size()));
          for (std::size_t i = 0; i < x.size(); ++i) {
            const float min = is_signed ? -128.f : 0.f, sum_of = std::nearbyintf(x[i] / by) + moved;
            const float expected = std::isnan(sum_of) ? 0.f : std::fmin(std::fmax(sum_of, min), min + 255);
            const float got = is_signed ? static_cast<float>(static_cast<std::int8_t>(y[i])) : static_cast<float>(y[i]);
            ASSERT_EQ(got, expected) << x[i] << " by " << by << ", zero point " << zero << (is_signed ? ", i8" : ", u8");
          }
        }
}

// What is seen elsewhere, or is no quantization, stays as it is.
TEST(FuseQuantize, LeavesWhatItMayNotJoin) {
  const PointwiseTables tables = PointwiseTables::of(kAvx2);
  for (const char* text :
       {"(f32) %1=constant.f32(0.1) %2=div.f32(%0,%1) %3=round_even.f32(%2) %4=saturate.u8(%3) -> %4 %3",
        "(f32,f32) %2=div.f32(%0,%1) %3=round_even.f32(%2) %4=saturate.u8(%3) -> %4",
        "(f32) %1=constant.f32(1e-35) %2=div.f32(%0,%1) %3=round_even.f32(%2) %4=saturate.u8(%3) -> %4",
        "(f32) %1=constant.f32(0.1) %2=div.f32(%0,%1) %3=round_even.f32(%2) %4=constant.f32(0.5) %5=add.f32(%3,%4) %6=saturate.u8(%5) "
        "-> %6"})
    EXPECT_EQ(only_item(lower(ir::parse_body(text), tables)), nullptr) << text;
}

}  // namespace
}  // namespace tenfold::backends::cpu
