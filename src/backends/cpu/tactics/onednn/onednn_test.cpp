// oneDNN's products against the reference, where the library is there.
#include "backends/cpu/onednn/library.h"
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_onednn_conv();
Tactic cpu_onednn_matmul();
namespace {

using namespace testing;

#define NEEDS_ONEDNN() \
  if (!cpu::onednn::library_info().absence.empty()) GTEST_SKIP() << cpu::onednn::library_info().absence

TEST(Onednn, MatrixProducts) {
  NEEDS_ONEDNN();
  const std::string relu = "%2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4";
  check_on_this_cpu(cpu_onednn_matmul(), {"MatMul", "f32[2,19,33] f32[33,50]!"}, 2e-6);
  check_on_this_cpu(cpu_onednn_matmul(), {"MatMul", "f32[130,64] f32[64,96]!", "(f32,f32) " + relu, {"f32[96]!"}}, 2e-6);
  check_on_this_cpu(cpu_onednn_matmul(), {"MatMul", "f32[40,64] f32[64,96]!", "(f32,f32) %2=add.f32(%0,%1) -> %2", {"f32[40,96]"}}, 2e-6);
  check_on_this_cpu(cpu_onednn_matmul(), {"MatMul", "f32[17,8] f32[8,5]!", "(f32) %1=sigmoid.f32(%0) %2=mul.f32(%0,%1) -> %2"}, 1e-5);
}

TEST(Onednn, Convolutions) {
  NEEDS_ONEDNN();
  for (const char* text :
       {"f32[2,16,14,14] f32[24,16,1,1]! f32[24]!", "f32[1,3,19,15] f32[8,3,3,3]! pads=[0,1,2,1] strides=[2,2]",
        "f32[1,6,9,9] f32[9,2,3,3]! group=3 dilations=[2,2] pads=[2,2,2,2]", "f32[2,4,20] f32[6,4,5]! f32[6]! strides=[3] pads=[2,1]",
        "f32[1,3,9,6,7] f32[4,3,3,3,3]! pads=[1,1,1,1,1,1]", "f32[1,64,8,8] f32[48,64,1,1]! strides=[2,2]",
        "f32[1,32,12,12] f32[32,1,3,3]! f32[32]! group=32 pads=[1,1,1,1]"})
    check_on_this_cpu(cpu_onednn_conv(), {"Conv", text}, 2e-6);
  const std::string text = "f32[2,10,16,7] f32[21,10,3,3]! pads=[1,1,1,1]",
                    biased = "f32[2,10,16,7] f32[21,10,3,3]! f32[21]! pads=[1,1,1,1]";
  const std::string clip = " %3=constant.f32(0) %4=max.f32(%2,%3) -> %4";
  check_on_this_cpu(cpu_onednn_conv(), {"Conv", text, "(f32,f32) %2=add.f32(%0,%1)" + clip, {"f32[21,1,1]!"}}, 2e-6);
  check_on_this_cpu(cpu_onednn_conv(), {"Conv", biased, "(f32,f32) %2=add.f32(%0,%1)" + clip, {"f32[2,21,16,7]"}}, 2e-6);
  check_on_this_cpu(cpu_onednn_conv(), {"Conv", biased, "(f32) %1=sigmoid.f32(%0) %2=mul.f32(%0,%1) -> %2"}, 1e-5);
}

TEST(Onednn, APlanOfAnotherVersionIsRefused) {
  NEEDS_ONEDNN();
  F32Problem problem({"MatMul", "f32[16,8] f32[8,5]!"});
  const TacticRun run(cpu_onednn_matmul(), problem.graph, cpu::this_cpu().features);
  Config config = cpu_onednn_matmul().configs(run.problem)[0];
  ++config[1];
  EXPECT_NE(cpu_onednn_matmul().valid(run.problem, config).reason.find("another version of oneDNN"), std::string::npos);
}

TEST(Onednn, RefusesAMachineItCannotImitate) {
  NEEDS_ONEDNN();
  F32Problem problem({"MatMul", "f32[16,8] f32[8,5]!"});
  EXPECT_FALSE(cpu_onednn_matmul().supports(TacticRun(cpu_onednn_matmul(), problem.graph, 0).problem).yes);
}

}  // namespace
}  // namespace tenfold::backends
