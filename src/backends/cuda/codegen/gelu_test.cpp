// Which spellings of GELU are computed by one function.
#include <gtest/gtest.h>

#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/gelu.h"

namespace tenfold::backends::cuda {
namespace {

bool prints_gelu(const char* body) {
  std::vector<std::string> outputs;
  return print_body(ir::parse_body(body), {"x", "y"}, "t", "", outputs).find("gelu_half") != std::string::npos;
}

TEST(Gelu, IsFound) {
  // x * (1 + erf(x * 0.7071)) * 0.5, as BERT has it behind a bias
  EXPECT_TRUE(
      prints_gelu("(f16,f16) %2=add.f16(%0,%1) %3=constant.f16(0.70710678) %4=mul.f16(%2,%3) %5=erf.f16(%4) %6=constant.f16(1) "
                  "%7=add.f16(%5,%6) %8=mul.f16(%2,%7) %9=constant.f16(0.5) %10=mul.f16(%8,%9) -> %10"));
  // 0.5 * x * (1 + erf(x / 1.4142))
  EXPECT_TRUE(
      prints_gelu("(bf16,bf16) %2=constant.bf16(0.5) %3=mul.bf16(%2,%0) %4=constant.bf16(1.4142135) %5=div.bf16(%0,%4) "
                  "%6=erf.bf16(%5) %7=constant.bf16(1) %8=add.bf16(%7,%6) %9=mul.bf16(%3,%8) -> %9"));
}

TEST(Gelu, IsNotFoundInWhatLooksAlike) {
  const std::string head = "(f16,f16) %2=constant.f16(0.5) %3=mul.f16(%0,%2) %4=constant.f16(";
  const auto tail = [](const char* inner, const char* one) {
    return std::string(") %5=mul.f16(") + inner + ",%4) %6=erf.f16(%5) %7=constant.f16(" + one +
           ") %8=add.f16(%7,%6) %9=mul.f16(%3,%8) -> %9";
  };
  EXPECT_TRUE(prints_gelu((head + "0.70710678" + tail("%0", "1")).c_str()));
  EXPECT_FALSE(prints_gelu((head + "0.8" + tail("%0", "1")).c_str()));         // another scale
  EXPECT_FALSE(prints_gelu((head + "0.70710678" + tail("%1", "1")).c_str()));  // of another value
  EXPECT_FALSE(prints_gelu((head + "0.70710678" + tail("%0", "2")).c_str()));  // something else added
  EXPECT_FALSE(
      prints_gelu("(f32,f32) %2=constant.f32(0.5) %3=mul.f32(%0,%2) %4=constant.f32(0.70710678) %5=mul.f32(%0,%4) %6=erf.f32(%5) "
                  "%7=constant.f32(1) %8=add.f32(%7,%6) %9=mul.f32(%3,%8) -> %9"));  // in digits that the function has not
}

TEST(Gelu, EndsABody) {
  const std::string gelu = "%1=constant.f16(0.70710678) %2=mul.f16(%0,%1) %3=erf.f16(%2) %4=constant.f16(1) %5=add.f16(%3,%4) "
                           "%6=mul.f16(%0,%5) %7=constant.f16(0.5) %8=mul.f16(%6,%7) ";
  const auto epilogue_of = [&](const std::string& rest) { return gelu_epilogue(ir::parse_body("(f16) " + gelu + rest)); };
  ASSERT_TRUE(epilogue_of("-> %8"));
  EXPECT_EQ(ir::text(epilogue_of("-> %8")->before), "(f16) -> %0");
  const auto small = epilogue_of("%9=cast.f32(%8) %10=constant.f32(0.25) %11=div.f32(%9,%10) %12=cast.f8e4m3fn(%11) -> %12");
  ASSERT_TRUE(small);
  EXPECT_EQ(small->factor, 4);
  const auto bytes = epilogue_of("%9=cast.f32(%8) %10=constant.f32(0.25) %11=div.f32(%9,%10) %12=round_even.f32(%11) %13=constant.f32(5) "
                                 "%14=add.f32(%12,%13) %15=saturate.u8(%14) -> %15");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->factor, 4);
  EXPECT_EQ(bytes->zero, 5);
  EXPECT_EQ(bytes->lower, -5);
  EXPECT_EQ(bytes->upper, 250);
  EXPECT_FALSE(epilogue_of("%9=add.f16(%8,%0) -> %9"));  // something follows
  EXPECT_FALSE(
      epilogue_of("%9=cast.f32(%8) %10=constant.f32(1e-9) %11=div.f32(%9,%10) %12=cast.f8e4m3fn(%11) -> %12"));  // too large for f16
  EXPECT_FALSE(gelu_epilogue(ir::parse_body("(f16) -> %0")));
}

}  // namespace
}  // namespace tenfold::backends::cuda
