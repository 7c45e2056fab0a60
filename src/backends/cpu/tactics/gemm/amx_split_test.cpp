// Tactics that take f32 as two terms of bf16 against the reference, to a tolerance a hundredth of what bf16 itself would need; they need a
// CPU with AMX.
#include "backends/cpu/gemm/bf16/gemm_bf16_for_tests.h"
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_matmul_amx_bf16();
Tactic cpu_matmul_amx_split();
Tactic cpu_attention_amx_split();
namespace {

using namespace testing;

constexpr double kTolerance = 2e-5;

void check(const Tactic& tactic, const F32Case& c) { check_on_this_cpu(tactic, c, kTolerance, AmxOrPortable::features()); }

constexpr const char* kGelu =
    "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(1.4142135) %4=div.f32(%2,%3) %5=erf.f32(%4) %6=constant.f32(1) %7=add.f32(%5,%6) "
    "%8=mul.f32(%2,%7) %9=constant.f32(0.5) %10=mul.f32(%8,%9) -> %10";

TEST(AmxSplit, Products) {
  const AmxOrPortable kernels;
  const Tactic tactic = cpu_matmul_amx_split();
  EXPECT_TRUE(tactic.rounds_f32);
  for (const char* text : {"f32[1,32] f32[32,32]!", "f32[5,7] f32[7,3]!", "f32[33,70] f32[70,65]!", "f32[130,384] f32[384,100]!",
                           "f32[2,40,96] f32[96,48]!", "f32[7] f32[7,40]!", "f32[0,8] f32[8,4]!", "f32[530,33] f32[33,31]!"})
    check(tactic, {"MatMul", text});
  const char* const kRelu = "(f32,f32,f32) %3=add.f32(%0,%1) %4=add.f32(%2,%3) %5=constant.f32(0) %6=max.f32(%4,%5) -> %6";
  check(tactic, {"MatMul", "f32[21,70] f32[70,45]!", kRelu, {"f32[45]!", "f32[21,45]"}});
  check(tactic, {"MatMul", "f32[21,70] f32[70,45]!", "(f32,f32) %2=mul.f32(%0,%1) -> %2", {"f32[21,45]"}});
  check(tactic, {"MatMul", "f32[21,70] f32[70,45]!", kGelu, {"f32[45]!"}});
}

// Rows so long that they are taken in pieces.
TEST(AmxSplit, LongRows) {
  if (!has_amx()) GTEST_SKIP() << "this CPU has no AMX, and portable kernels take a minute";
  const Tactic tactic = cpu_matmul_amx_split();
  check(tactic, {"MatMul", "f32[70,5000] f32[5000,75]!"});
  check(tactic, {"MatMul", "f32[70,5000] f32[5000,75]!", "(f32,f32) %2=add.f32(%0,%1) -> %2", {"f32[70,75]"}});
  check(tactic, {"MatMul", "f32[70,5000] f32[5000,75]!", kGelu, {"f32[75]!"}});
}

TEST(AmxSplit, Attention) {
  if (!has_amx()) GTEST_SKIP() << "this CPU has no AMX";
  const Tactic tactic = cpu_attention_amx_split();
  EXPECT_TRUE(tactic.rounds_f32);
  for (const char* text : {"f32[1,2,5,16] f32[1,2,5,16] f32[1,2,5,16] scale=0.25",
                           "f32[1,3,197,64] f32[1,3,197,64] f32[1,3,197,64] scale=0.125",
                           "f32[2,2,128,32] f32[2,2,128,32] f32[2,2,128,32] f32[2,1,1,128] scale=0.2",
                           "f32[1,1,35,20] f32[1,1,600,20] f32[1,1,600,33] f32[1,1,35,600] scale=1.5",
                           "f32[1,1,290,40] f32[1,1,290,40] f32[1,1,290,40] causal=1 scale=0.3"})
    check(tactic, {"FusedAttention", text});
}

// Otherwise the tests above could not fail.
TEST(AmxSplit, Bf16WouldBeFarOff) {
  const AmxOrPortable kernels;
  F32Problem problem({"MatMul", "f32[130,384] f32[384,100]! numerics={round_to=bf16}"});
  const Tactic tactic = cpu_matmul_amx_bf16();
  TacticRun run(tactic, problem.graph, kernels.features());
  Serial serial;
  EXPECT_GT(relative_difference(run.run(tactic.configs(run.problem)[0], problem.operands, serial)[0], problem.truth()), 20 * kTolerance);
}

TEST(AmxSplit, SaysWhyNot) {
  const auto reason = [](const char* text, std::uint32_t features) {
    const F32Problem problem({"MatMul", text});
    return cpu_matmul_amx_split().supports(TacticRun(cpu_matmul_amx_split(), problem.graph, features).problem).reason;
  };
  EXPECT_EQ(reason("f32[5,7] f32[7,3]!", kAvx2), "this machine has no AMX");
  EXPECT_EQ(reason("f32[5,7] f32[7,3]! numerics={round_to=bf16}", 63), "operands may be rounded to bf16");
  EXPECT_EQ(reason("bf16[5,7] bf16[7,3]!", 63), "operands are not f32");
  EXPECT_EQ(reason("f32[5,7] f32[7,3]", 63), "the right operand is not one constant matrix");
}

}  // namespace
}  // namespace tenfold::backends
