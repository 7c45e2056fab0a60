// RecurrentStack by any number of workers: the same bits as by one, which are the reference's within rounding.
#include "backends/cpu/tactics/f32_for_tests.h"
#include "base/threads/thread_pool.h"

namespace tenfold::backends {
Tactic cpu_recurrent_stack_s16();
Tactic cpu_recurrent_stack_rows();
namespace {

using namespace testing;

const char* const kFourLayers =
    "f32[37,1,9] f32[1,60,9]! f32[1,60,15]! f32[1,120]! _ _ f32[1,64,15]! f32[1,64,16]! f32[1,128]! _ _ f32[1,40,16]! f32[1,40,10]! _ _ _ "
    "f32[1,48,10]! f32[1,48,12]! f32[1,96]!";

void check_workers(const Tactic& tactic, double tolerance) {
  if ((cpu::this_cpu().features & kVnni) == 0 && tactic.rounds_f32) GTEST_SKIP() << "this machine has no AVX512_VNNI";
  const F32Problem problem({"RecurrentStack", kFourLayers});
  const Tensor truth = problem.truth();
  TacticRun run(tactic, problem.graph, cpu::this_cpu().features);
  for (const Config& config : {Config{1}, Config{4}, Config{37}, Config{1000}}) {
    ASSERT_TRUE(tactic.valid(run.problem, config).yes);
    Serial serial;
    const Tensor alone = run.run(config, problem.operands, serial)[0];
    EXPECT_LT(relative_difference(alone, truth), tolerance);
    for (const int threads : {2, 3, 4, 7}) {   // more than this machine may have: then they take each other's CPU in the middle of a cell
      ThreadPool pool({.threads = threads});
      for (int again = 0; again < 25; ++again) {
        const Tensor y = run.run(config, problem.operands, pool)[0];
        ASSERT_EQ(std::memcmp(y.raw(), alone.raw(), static_cast<std::size_t>(y.bytes())), 0)
            << threads << " threads, cells of " << config[0];
      }
    }
  }
}

TEST(RecurrentStack, AnyNumberOfWorkers) { check_workers(cpu_recurrent_stack_rows(), 1e-5); }
TEST(RecurrentStack, AnyNumberOfWorkersWithWeightsOf16Bits) { check_workers(cpu_recurrent_stack_s16(), 3e-4); }

TEST(RecurrentStack, RefusesConfigurationsOfOthers) {
  const Tactic tactic = cpu_recurrent_stack_rows();
  const F32Problem problem({"RecurrentStack", kFourLayers});
  const TacticRun run(tactic, problem.graph, kAvx2);
  for (const Config& config : {Config{}, Config{0}, Config{-1}, Config{1 << 20}, Config{6, 1}})
    EXPECT_FALSE(tactic.valid(run.problem, config));
}

}  // namespace
}  // namespace tenfold::backends
