// The bf16 depthwise convolution against the reference, with epilogues in registers and by blocks.
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_conv_depthwise_bf16();
namespace {

using namespace testing;

// The reference rounds each step of an epilogue.
void check(const F32Case& c) { check_on_this_cpu(cpu_conv_depthwise_bf16(), c, 8e-3); }

class ConvDepthwiseBf16 : public ::testing::Test {
  void SetUp() override {
    if (!(cpu::this_cpu().features & kAmxBf16)) GTEST_SKIP() << "this CPU has no bf16 arithmetic";
  }
};

// Wide ones, whose lines are several tiles, and edges that only the first or the last window touches.
TEST_F(ConvDepthwiseBf16, Windows) {
  for (const char* text :
       {"bf16[1,64,4,23] bf16[64,1,3,3]! bf16[64]! group=64 pads=[1,1,1,1]", "bf16[1,16,5,18] bf16[16,1,3,3]! group=16 pads=[0,2,0,2]",
        "bf16[1,224,7,7] bf16[224,1,3,3]! bf16[224]! group=224 pads=[0,0,1,1] strides=[2,2]",
        "bf16[2,48,3,9] bf16[48,1,5,5]! group=48 pads=[2,2,2,2] strides=[1,2]", "bf16[1,32,9,9] bf16[32,1,7,7]! group=32 pads=[3,3,3,3]",
        "bf16[1,32,2,1] bf16[32,1,3,3]! group=32 pads=[1,2,1,2]", "bf16[3,20,30] bf16[20,1,3]! group=20 pads=[1,1]"})
    check({"Conv", text});
}

TEST_F(ConvDepthwiseBf16, Epilogues) {
  const char* text = "bf16[1,72,6,9] bf16[72,1,3,3]! bf16[72]! group=72 pads=[1,1,1,1]";
  const char* bare = "bf16[1,72,6,9] bf16[72,1,3,3]! group=72 pads=[1,1,1,1]";
  check({"Conv", text, "(bf16) %1=constant.bf16(0) %2=constant.bf16(0.5) %3=max.bf16(%0,%1) %4=min.bf16(%3,%2) -> %4"});
  check({"Conv", bare, "(bf16,bf16,bf16) %3=add.bf16(%0,%1) %4=add.bf16(%3,%2) %5=constant.bf16(0) %6=max.bf16(%4,%5) -> %6",
         {"bf16[72,1,1]!", "bf16[1,72,6,9]"}});
  check({"Conv", "bf16[1,72,6,9] bf16[72,1,3,3]! f32[72]! group=72 pads=[1,1,1,1]"});
  check({"Conv", text, "(bf16) %1=sigmoid.bf16(%0) %2=mul.bf16(%0,%1) -> %2"});
  check({"Conv", text, "(bf16,bf16) %2=mul.bf16(%0,%1) %3=cast.f32(%2) -> %3", {"bf16[1,72,1,1]"}});
  check({"Conv", text,
         "(bf16) %1=constant.bf16(0.70703125) %2=mul.bf16(%0,%1) %3=erf.bf16(%2) %4=constant.bf16(1) %5=add.bf16(%3,%4) %6=mul.bf16(%0,%5) "
         "%7=constant.bf16(0.5) %8=mul.bf16(%6,%7) -> %8"});
}

TEST(ConvDepthwiseBf16Refuses, MoreThanOneChannelAFilter) {
  F32Problem problem({"Conv", "bf16[1,8,4,4] bf16[8,2,3,3]! group=4 pads=[1,1,1,1]"});
  const Tactic tactic = cpu_conv_depthwise_bf16();
  TacticRun run(tactic, problem.graph, ~0u);
  run.use(tactic.formats(run.problem).front());
  EXPECT_NE(tactic.supports(run.problem).reason.find("one filter"), std::string::npos);
}

}  // namespace
}  // namespace tenfold::backends
