// Blockings that are timed only where there are many threads, and runs of many workers: the same bits as of one, near the reference.
#include "backends/cpu/gemm/conv/winograd_tiles.h"
#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_conv_amx_bf16();
Tactic cpu_conv_amx_split();
Tactic cpu_conv_igemm();
Tactic cpu_conv_pointwise_split();
Tactic cpu_conv_winograd();
namespace {

using namespace testing;

void check(const Tactic& tactic, const std::string& text, const std::vector<Config>& configs, double tolerance) {
  SCOPED_TRACE(tactic.name + " " + text);
  F32Problem problem({"Conv", text});
  const Tensor truth = problem.truth();
  TacticRun run(tactic, problem.graph, cpu::this_cpu().features);
  run.use(tactic.formats(run.problem).front());
  ASSERT_TRUE(tactic.supports(run.problem).yes) << tactic.supports(run.problem).reason;
  for (const Config& config : configs) {
    ASSERT_TRUE(tactic.valid(run.problem, config).yes) << tactic.valid(run.problem, config).reason;
    Serial serial;
    Backwards many(16);
    const Tensor y = run.run(config, problem.operands, serial)[0], again = run.run(config, problem.operands, many)[0];
    EXPECT_EQ(0, std::memcmp(y.raw(), again.raw(), static_cast<std::size_t>(y.bytes()))) << "results depend on the workers";
    EXPECT_LE(relative_difference(y, truth), tolerance);
  }
}

TEST(ManyThreads, FineBlockingsOfF32) {
  if (!(cpu::this_cpu().features & kAvx512)) GTEST_SKIP() << "this CPU has no AVX-512";
  const std::int64_t isa = cpu::kGemmAvx512;
  check(cpu_conv_winograd(), "f32[1,32,14,14] f32[133,32,3,3]! pads=[1,1,1,1]",
        {{isa, 7, 4, cpu::kWinograd2x2}, {isa, 8, 8, cpu::kWinograd4x4}, {isa, 6, 2, cpu::kWinograd4x4}}, 1e-4);
  check(cpu_conv_igemm(), "f32[1,24,14,14] f32[133,24,3,3]! pads=[1,1,1,1] strides=[2,2]", {{isa, 12, 32, 24}, {isa, 49, 16, 12}}, 2e-6);
}

TEST(ManyThreads, FineBlockingsOnAmx) {
  if (!has_amx()) GTEST_SKIP() << "this CPU has no AMX";
  check(cpu_conv_pointwise_split(), "f32[1,96,7,7] f32[500,96,1,1]!", {{49, 32, 0}, {25, 16, 1}, {13, 64, 0}}, 1e-6);
  check(cpu_conv_amx_split(), "f32[1,96,7,7] f32[500,96,1,1]!", {{64, 32, 1, 1, 0}, {32, 64, 0, 1, 0}}, 1e-6);
  check(cpu_conv_amx_split(), "f32[1,40,7,7] f32[500,40,3,3]! pads=[1,1,1,1]", {{7, 32, 1, 1, 0}, {2, 64, 0, 1, 0}}, 1e-6);
}

// Divided anew by the number of workers.
TEST(ManyThreads, PositionsOfBf16) {
  if (!has_amx()) GTEST_SKIP() << "this CPU has no AMX";
  for (const Config& c : {Config{64, 32, 1, 1, 0}, Config{64, 32, 0, 1, 0}, Config{224, 256, 1, 1, 0}, Config{224, 128, 0, 1, 0}})
    check(cpu_conv_amx_bf16(), "bf16[1,64,14,14] bf16[256,64,1,1]!", {c}, 8e-3);
}

}  // namespace
}  // namespace tenfold::backends
