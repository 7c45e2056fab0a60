// Which ends of bodies are roundings to bytes.
#include "backends/cuda/codegen/byte_rounding.h"

#include <gtest/gtest.h>

namespace tenfold::backends::cuda {
namespace {

std::optional<ByteRounding> rounding_of(const char* text) { return byte_rounding(ir::parse_body(text)); }

TEST(ByteRounding, IsFoundAsQuantizationsSpellIt) {
  const ir::Body body = ir::parse_body("(i32,f32) %2=cast.f32(%0) %3=mul.f32(%2,%1) %4=constant.f32(0.5) %5=div.f32(%3,%4) "
                                       "%6=round_even.f32(%5) %7=constant.f32(-3) %8=add.f32(%6,%7) %9=saturate.i8(%8) -> %9");
  const auto found = byte_rounding(body);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->factor, 2);
  EXPECT_EQ(found->zero, -3);
  EXPECT_EQ(found->lower(), -125);
  EXPECT_EQ(found->upper(), 130);
  EXPECT_EQ(ir::text(before_rounding(body, *found)),
            "(i32,f32) %2=cast.f32(%0) %3=mul.f32(%2,%1) %4=constant.f32(2) %5=mul.f32(%3,%4) -> %5");
  const auto plain = rounding_of("(f32) %1=saturate.u8(%0) -> %1");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->value, 0);
  EXPECT_EQ(plain->factor, 1);
}

TEST(ByteRounding, IsNotFoundInOthers) {
  EXPECT_FALSE(rounding_of("(f32) %1=cast.i8(%0) -> %1"));         // wraps
  EXPECT_FALSE(rounding_of("(f32) %1=saturate.i16(%0) -> %1"));
  EXPECT_FALSE(rounding_of("(i32) %1=saturate.i8(%0) -> %1"));     // whole numbers, which f32 need not hold
  EXPECT_FALSE(rounding_of("(f32) %1=round_even.f32(%0) %2=constant.f32(0.5) %3=add.f32(%1,%2) %4=saturate.i8(%3) -> %4"));
  // What is added to no rounded number is rounded with it.
  const auto sum = rounding_of("(f32) %1=constant.f32(4) %2=add.f32(%0,%1) %3=round_even.f32(%2) %4=saturate.i8(%3) -> %4");
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->zero, 0);
  EXPECT_EQ(sum->value, 2);
}

}  // namespace
}  // namespace tenfold::backends::cuda
