// Attention with a soft cap: who takes it, and that its kernels compile and are not those without one. Needs NVRTC, but no GPU.
#include <map>

#include "backends/code.h"
#include "backends/cuda/device/compiler.h"
#include "backends/cuda/device/library.h"
#include "backends/cuda/device/machine_code.h"
#include "backends/cuda/tactics/one_node_for_tests.h"

namespace tenfold::backends {
namespace {

// Of each tactic that takes the problem, the hash of its kernel's first configuration.
std::map<std::string, Hash128> kernels_for(const std::string& problem, int arch) {
  const testing::OneNode one("FusedAttention", problem, "", {});
  const DeviceInfo device = testing::compile_only(arch);
  std::map<std::string, Hash128> all;
  testing::each_tactic(one, device, [&](const Tactic& tactic, const testing::TacticRun& run) {
    Opening opening;
    EXPECT_NO_THROW(tactic.open(run.problem, tactic.configs(run.problem).front(), opening)) << tactic.name << " on " << run.problem.line();
    ASSERT_FALSE(opening.used.empty());
    all[tactic.name] = cuda::machine_code_hash((*opening.used.begin())->image);
  });
  return all;
}

TEST(CudaAttention, SoftCapsCompile) {
  cuda::add_search_place(TENFOLD_SOURCE_DIR "/build/venv");
  if (const std::string why = cuda::compiler_why_not(); !why.empty()) GTEST_SKIP() << "no NVRTC: " << why;
  for (const char* problem : {"f16[1,4,400,128] f16[1,2,400,128] f16[1,2,400,128] causal=1 scale=1.0",   // in steps
                              "bf16[2,2,100,64] bf16[2,2,90,64] bf16[2,2,90,64] bf16[2,1,1,90] scale=0.2",
                              "f16[2,2,130,64] f16[2,2,300,64] f16[2,2,300,64] f16[1,2,130,300] scale=0.125"})
    for (int arch : {80, 90}) {
      SCOPED_TRACE(cat(problem, " for sm_", arch));
      const auto plain = kernels_for(problem, arch), capped = kernels_for(cat(problem, " softcap=50.0"), arch);
      EXPECT_EQ(capped.size(), arch == 90 ? 2u : 1u);
      EXPECT_EQ(capped.count("attention_wgmma"), arch == 90 ? 1u : 0u);
      for (const auto& [tactic, hash] : capped) EXPECT_FALSE(hash == plain.at(tactic)) << tactic;
    }
}

TEST(CudaAttention, RefusesCapsThatWouldLoseBits) {
  const testing::OneNode one("FusedAttention", "f16[1,2,64,64] f16[1,2,64,64] f16[1,2,64,64] scale=0.125 softcap=2000.0", "", {});
  const DeviceInfo device = testing::compile_only(90);
  std::vector<std::string> takers;
  testing::each_tactic(one, device, [&](const Tactic& tactic, const testing::TacticRun&) { takers.push_back(tactic.name); });
  EXPECT_EQ(takers, std::vector<std::string>{"attention_simple"});
}

}  // namespace
}  // namespace tenfold::backends
