// The convolutions of f32 in three terms of bf16 against the reference, with a tolerance that two miss.
#include "backends/cpu/gemm/bf16/gemm_bf16_for_tests.h"
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_conv_amx_bf16();
Tactic cpu_conv_amx_split();
Tactic cpu_conv_transpose_amx_split();
namespace {

using namespace testing;

constexpr double kTolerance = 1e-6;   // relative to the largest value of the result; two terms give 4e-6

void check(const Tactic& tactic, const F32Case& c) {
  check_on_this_cpu(tactic, c, kTolerance, AmxOrPortable::features());
  check_unpacks(tactic, F32Problem(c));
}

const char* const kConvolutions[] = {
    "f32[2,16,14,14] f32[24,16,1,1]! f32[24]!",
    "f32[1,64,9,5] f32[133,64,1,1]!",
    "f32[3,3,17,15] f32[8,3,3,3]! pads=[0,1,2,1] strides=[2,2]",
    "f32[1,64,9,9] f32[70,64,3,3]! f32[70]! pads=[1,1,1,1]",
    "f32[1,5,6,5,4] f32[33,5,3,1,2]! pads=[1,0,0,1,0,1]",
    "f32[2,3,23,21] f32[40,3,7,7]! f32[40]! pads=[3,3,3,3] strides=[2,2]",
    "f32[1,1,6,7,8] f32[32,1,3,3,3]! pads=[1,1,1,1,1,1]",
    "f32[1,64,10,11] f32[80,64,1,1]! strides=[2,2]",
    "f32[3,32,13,12] f32[32,32,3,3]! pads=[2,2,2,2] dilations=[2,2]",
    "f32[1,20,16,17] f32[9,20,5,3]! pads=[1,4,0,2] strides=[3,2] dilations=[2,3]",
    "f32[1,32,9] f32[8,32,4]! pads=[3,3]"};

TEST(ConvAmxSplit, NoPositions) {
  const AmxOrPortable kernels;
  for (const char* text : {"f32[1,32,0,5] f32[32,32,1,2]!", "f32[0,32,5,5] f32[96,32,3,3]!", "f32[0,32,5,5,5] f32[96,32,3,3,3]!"})
    check(cpu_conv_amx_split(), {"Conv", text});
}

TEST(ConvAmxSplit, Convolutions) {
  const AmxOrPortable kernels;
  for (const char* text : kConvolutions) check(cpu_conv_amx_split(), {"Conv", text});
  const char* const residual = "f32[1,40,6,7] f32[45,40,3,3]! f32[45]! pads=[1,1,1,1]";
  check(cpu_conv_amx_split(),
        {"Conv", residual, "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", {"f32[1,45,6,7]"}});
  check(cpu_conv_amx_split(), {"Conv", residual, "(f32,f32) %2=mul.f32(%0,%1) -> %2", {"f32[1,45,6,7]"}});
}

TEST(ConvAmxSplit, TransposedConvolutions) {
  const AmxOrPortable kernels;
  for (const char* text : {"f32[1,20,5,4] f32[20,17,2,2]! f32[17]! strides=[2,2]", "f32[3,32,3,4,5] f32[32,33,2,2,2]! strides=[2,2,2]",
                           "f32[1,6,9] f32[6,5,3]! f32[5]! strides=[3]", "f32[1,64,3,4] f32[64,40,1,3]! strides=[1,3]"})
    check(cpu_conv_transpose_amx_split(), {"ConvTranspose", text});
  check(cpu_conv_transpose_amx_split(), {"ConvTranspose", "f32[2,10,3,4] f32[10,21,2,2]! f32[21]! strides=[2,2]",
                                         "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", {"f32[2,21,6,8]"}});
}

// Else the tests above show nothing.
TEST(ConvAmxSplit, OneTermWouldMissTheTolerance) {
  const AmxOrPortable kernels;
  for (const char* text : kConvolutions) {
    F32Problem problem({"Conv", std::string(text) + " numerics={round_to=bf16}"});
    const Tactic tactic = cpu_conv_amx_bf16();
    TacticRun run(tactic, problem.graph, kernels.features());
    run.use(tactic.formats(run.problem).front());
    Serial serial;
    const Tensor y = run.run(tactic.configs(run.problem)[0], problem.operands, serial)[0];
    EXPECT_GT(relative_difference(y, problem.truth()), 100 * kTolerance) << text;
  }
}

// Terms of infinity, and zeros that pad, must not make numbers into none.
TEST(ConvAmxSplit, InfinityStaysInItsWindows) {
  const AmxOrPortable kernels;
  for (const float value : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    for (const char* text :
         {"f32[1,3,8,40] f32[8,3,3,3]! pads=[1,1,1,1]", "f32[1,3,9,41] f32[8,3,5,5]! strides=[2,2]",
          "f32[1,40,6,7] f32[8,40,3,3]! pads=[1,1,1,1]", "f32[1,1,6,40] f32[8,1,3,3]!", "f32[1,48,6,7] f32[8,48,1,1]!"}) {
      F32Problem problem({"Conv", text});
      problem.operands[0].mutable_data<float>()[problem.operands[0].size() / 2] = value;
      const Tensor truth = problem.truth();
      const Tactic tactic = cpu_conv_amx_split();
      TacticRun run(tactic, problem.graph, kernels.features());
      run.use(tactic.formats(run.problem).front());
      Serial serial;
      const Tensor y = run.run(tactic.configs(run.problem)[0], problem.operands, serial)[0];
      EXPECT_GT(check_special_values(y, truth), 0) << text;
    }
  }
}

TEST(ConvAmxSplit, SaysWhatItRefuses) {
  const Tactic tactic = cpu_conv_amx_split();
  const auto reason = [&](const char* text, std::uint32_t features) {
    F32Problem problem({"Conv", text});
    TacticRun run(tactic, problem.graph, features);
    run.use(tactic.formats(run.problem).front());
    return tactic.supports(run.problem).reason;
  };
  EXPECT_EQ(reason("f32[1,4,6,7] f32[8,2,3,3]! group=2", 63), "it has groups");
  EXPECT_EQ(reason("f32[1,4,6,7] f32[8,4,3,3]!", kAvx2 | kAvx512), "this machine has no AMX");
  EXPECT_EQ(reason("bf16[1,4,6,7] bf16[8,4,3,3]!", 63), "operands are not f32");
  EXPECT_EQ(reason("f32[1,4,6,7] f32[8,4,3,3]! numerics={round_to=bf16}", 63), "operands may be rounded to bf16");
}

}  // namespace
}  // namespace tenfold::backends
