// conv_transpose_gemm against the reference, in one to three dims, with epilogues.
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_conv_transpose_gemm();
namespace {

using namespace testing;

const std::vector<Config> kOddBlockings = {{0, 3, 5}, {1, 2, 7}};

TEST(ConvTransposeGemm, Windows) {
  for (const char* text : {"f32[1,20,5,4] f32[20,17,2,2]! f32[17]! strides=[2,2]", "f32[2,8,3,4,5] f32[8,33,2,2,2]! strides=[2,2,2]",
                           "f32[1,6,9] f32[6,5,3]! f32[5]! strides=[3]", "f32[1,7,3,4] f32[7,40,1,3]! strides=[1,3]"})
    check_f32(cpu_conv_transpose_gemm(), {"ConvTranspose", text}, 2e-6, kOddBlockings);
}

TEST(ConvTransposeGemm, Epilogues) {
  const std::string text = "f32[2,10,3,4] f32[10,21,2,2]! f32[21]! strides=[2,2]";
  check_f32(cpu_conv_transpose_gemm(),
            {"ConvTranspose", text, "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", {"f32[2,21,6,8]"}}, 2e-6,
            kOddBlockings);
  check_f32(cpu_conv_transpose_gemm(), {"ConvTranspose", text, "(f32,f32) %2=mul.f32(%0,%1) -> %2", {"f32[2,21,6,8]"}}, 2e-6,
            kOddBlockings);
}

TEST(ConvTransposeGemm, RefusesOverlap) {
  F32Problem problem({"ConvTranspose", "f32[1,4,6,6] f32[4,5,4,4]! strides=[2,2] pads=[1,1,1,1]"});
  TacticRun run(cpu_conv_transpose_gemm(), problem.graph, kAvx2);
  run.use({std::vector<Layout>(run.problem.in.size(), kChannelsLast), {kChannelsLast}});
  EXPECT_FALSE(cpu_conv_transpose_gemm().supports(run.problem).yes);
}

}  // namespace
}  // namespace tenfold::backends
