// Products of f32 in three terms of bf16 against the reference, with a tolerance that two terms miss.
#include "backends/cpu/gemm/bf16/gemm_bf16_for_tests.h"
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_matmul_amx_split();
Tactic cpu_matmul_amx_whole();
namespace {

using namespace testing;

constexpr double kTolerance = 1e-6;   // relative to the largest value of the result; two terms give 4e-6

constexpr const char* kProducts[] = {
    "f32[1,32] f32[32,32]!",     "f32[5,7] f32[7,3]!", "f32[33,70] f32[70,65]!", "f32[16,384] f32[384,100]!", "f32[130,100] f32[100,90]!",
    "f32[2,40,96] f32[96,48]!", "f32[7] f32[7,40]!",  "f32[0,8] f32[8,4]!",     "f32[600,33] f32[33,31]!",   "f32[40,320] f32[320,600]!"};

void check(const F32Case& c, double tolerance = kTolerance) {
  check_on_this_cpu(cpu_matmul_amx_whole(), c, tolerance, AmxOrPortable::features());
  check_unpacks(cpu_matmul_amx_whole(), F32Problem(c));
}

TEST(MatmulAmxWhole, Products) {
  const AmxOrPortable kernels;
  EXPECT_FALSE(cpu_matmul_amx_whole().rounds_f32);
  for (const char* text : kProducts) check({"MatMul", text});
  const char* const kRelu = "(f32,f32,f32) %3=add.f32(%0,%1) %4=add.f32(%2,%3) %5=constant.f32(0) %6=max.f32(%4,%5) -> %6";
  for (const std::string rows : {"21", "121"}) {
    const std::string product = "f32[" + rows + ",70] f32[70,45]!", result = "f32[" + rows + ",45]";
    check({"MatMul", product, kRelu, {"f32[45]!", result}});
    check({"MatMul", product, "(f32,f32) %2=mul.f32(%0,%1) -> %2", {result}});
  }
}

// Rows so long that they are taken in pieces; sums of 5000 are allowed what all tactics of f32 are.
TEST(MatmulAmxWhole, LongRows) {
  if (!has_amx()) GTEST_SKIP() << "this CPU has no AMX, and portable kernels take a minute";
  check({"MatMul", "f32[70,5000] f32[5000,75]!"}, 2 * kTolerance);
  check({"MatMul", "f32[70,5000] f32[5000,75]!", "(f32,f32) %2=add.f32(%0,%1) -> %2", {"f32[70,75]"}}, 2 * kTolerance);
  check({"MatMul", "f32[70,5000] f32[5000,75]!", "(f32,f32) %2=mul.f32(%0,%1) -> %2", {"f32[70,75]"}}, 2 * kTolerance);
}

// Else the tests above show nothing.
TEST(MatmulAmxWhole, TwoTermsWouldMissTheTolerance) {
  const AmxOrPortable kernels;
  F32Problem problem({"MatMul", "f32[16,384] f32[384,100]!"});
  const Tactic tactic = cpu_matmul_amx_split();
  TacticRun run(tactic, problem.graph, kernels.features());
  Serial serial;
  EXPECT_GT(relative_difference(run.run(tactic.configs(run.problem)[0], problem.operands, serial)[0], problem.truth()), 2 * kTolerance);
}

// Weights that are all finite are split without a look at each; others, and rows, keep infinity in one term.
TEST(MatmulAmxWhole, InfinityStaysInItsRowsAndColumns) {
  const AmxOrPortable kernels;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float value : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()})
    for (const std::size_t operand : {0u, 1u})
      for (const char* text : {"f32[9,70] f32[70,65]!", "f32[50,70] f32[70,65]!"}) {
        F32Problem problem({"MatMul", text});
        problem.operands[operand].mutable_data<float>()[problem.operands[operand].size() / 2] = value;
        const Tactic tactic = cpu_matmul_amx_whole();
        TacticRun run(tactic, problem.graph, kernels.features());
        Serial serial;
        const Tensor y = run.run(tactic.configs(run.problem)[0], problem.operands, serial)[0];
        EXPECT_GT(check_special_values(y, problem.truth()), 0) << text;
      }
}

TEST(MatmulAmxWhole, SaysWhyNot) {
  const auto reason = [](const char* text, std::uint32_t features) {
    const F32Problem problem({"MatMul", text});
    return cpu_matmul_amx_whole().supports(TacticRun(cpu_matmul_amx_whole(), problem.graph, features).problem).reason;
  };
  EXPECT_EQ(reason("f32[5,7] f32[7,3]!", kAvx2), "this machine has no AMX");
  EXPECT_EQ(reason("f32[5,7] f32[7,3]! numerics={round_to=bf16}", 63), "operands may be rounded to bf16");
  EXPECT_EQ(reason("f32[5,7] f32[7,3]", 63), "the right operand is not one constant matrix");
}

}  // namespace
}  // namespace tenfold::backends
