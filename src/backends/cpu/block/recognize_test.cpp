// Activations are found in bodies however these write them.
#include <gtest/gtest.h>

#include "backends/cpu/block/lower.h"
#include "backends/cpu/cpu_info.h"

namespace tenfold::backends::cpu {
namespace {

TEST(Recognize, ActivationsHoweverTheyAreWritten) {
  const PointwiseTables tables = PointwiseTables::of(kAvx2);
  const auto items = [&](const char* text) {
    std::vector<Op> ops;
    for (const Item& item : lower(ir::parse_body(text), tables).items) ops.push_back(item.op);
    return ops;
  };
  const std::vector<Op> erf{Op::gelu_erf}, tanh{Op::gelu_tanh}, silu{Op::silu};
  EXPECT_EQ(items("(f32) %1=constant.f32(1.4142135381698608) %2=div.f32(%0,%1) %3=erf.f32(%2) %4=constant.f32(1) %5=add.f32(%3,%4) "
                  "%6=mul.f32(%0,%5) %7=constant.f32(0.5) %8=mul.f32(%6,%7) -> %8"),
            erf);
  EXPECT_EQ(items("(f32) %1=constant.f32(0.7071067811865476) %2=mul.f32(%0,%1) %3=erf.f32(%2) %4=constant.f32(0.5) %5=mul.f32(%4,%0) "
                  "%6=fma.f32(%5,%3,%5) -> %6"),
            erf);
  EXPECT_EQ(items("(f32) %1=constant.f32(3) %2=pow.f32(%0,%1) %3=constant.f32(0.044715) %4=mul.f32(%2,%3) %5=add.f32(%0,%4) "
                  "%6=constant.f32(0.7978845608028654) %7=mul.f32(%5,%6) %8=tanh.f32(%7) %9=constant.f32(1) %10=add.f32(%8,%9) "
                  "%11=constant.f32(0.5) %12=mul.f32(%0,%11) %13=mul.f32(%12,%10) -> %13"),
            tanh);
  EXPECT_EQ(items("(f32) %1=sigmoid.f32(%0) %2=mul.f32(%1,%0) -> %2"), silu);
  const std::vector<Op> with_bias{Op::add, Op::gelu_erf};
  EXPECT_EQ(items("(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0.7071067811865476) %4=mul.f32(%2,%3) %5=erf.f32(%4) %6=constant.f32(1) "
                  "%7=add.f32(%5,%6) %8=constant.f32(0.5) %9=mul.f32(%2,%8) %10=mul.f32(%9,%7) -> %10"),
            with_bias);
  // Constants of bf16 bodies are rounded.
  EXPECT_EQ(items("(bf16) %1=constant.bf16(1.4140625) %2=div.bf16(%0,%1) %3=erf.bf16(%2) %4=constant.bf16(1) %5=add.bf16(%3,%4) "
                  "%6=mul.bf16(%0,%5) %7=constant.bf16(0.5) %8=mul.bf16(%6,%7) -> %8"),
            (std::vector<Op>{Op::cast, Op::gelu_erf, Op::cast}));
  // A sigmoid of twice x is not SiLU.
  EXPECT_NE(items("(f32) %1=add.f32(%0,%0) %2=sigmoid.f32(%1) %3=mul.f32(%2,%0) -> %3"), silu);
}

// By this epilogues of products of bf16 know what they can do in registers.
TEST(Recognize, GeluWithItsConversionsIsOneItem) {
  const PointwiseTables tables = PointwiseTables::of(this_cpu().features);
  if (!tables.bf16) GTEST_SKIP() << "this CPU does not round to bf16";
  const Lowered program = lower(ir::parse_body("(bf16) %1=constant.bf16(1.4140625) %2=div.bf16(%0,%1) %3=erf.bf16(%2) %4=constant.bf16(1) "
                                               "%5=add.bf16(%3,%4) %6=mul.bf16(%0,%5) %7=constant.bf16(0.5) %8=mul.bf16(%6,%7) -> %8"),
                                tables);
  ASSERT_EQ(program.items.size(), 1u);
  EXPECT_EQ(program.items[0].op, Op::gelu_erf);
  EXPECT_EQ(program.items[0].bytes, 2);
}

}  // namespace
}  // namespace tenfold::backends::cpu
