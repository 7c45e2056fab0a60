// matmul_packed against the reference: shapes around the tiles, every small number of rows, blocks of K, epilogues.
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_matmul_packed();
namespace {

using namespace testing;

// Small blocks of every kind, so that small problems see all of the loop.
const std::vector<Config> kOddBlockings = {{0, 7, 16, 5},  {0, 24, 48, 64}, {1, 13, 32, 9},      {1, 24, 96, 64},
                                           {4, 10, 48, 7}, {5, 7, 64, 7},   {6, 9, 32, 1 << 20}, {7, 12, 16, 1 << 20}};

TEST(MatmulPacked, AnyNumberOfRows) {
  for (int m = 1; m <= 40; ++m) check_f32(cpu_matmul_packed(), {"MatMul", cat("f32[", m, ",19] f32[19,37]!")}, 2e-6, kOddBlockings);
}

TEST(MatmulPacked, AnyWidthAndDepth) {
  for (const int n : {1, 7, 8, 9, 15, 16, 17, 24, 25, 31, 32, 33, 56, 63, 64, 65, 100, 129})
    for (const int m : {1, 2, 3, 8, 14})
      for (const int k : {1, 3, 4, 33})
        check_f32(cpu_matmul_packed(), {"MatMul", cat("f32[", m, ",", k, "] f32[", k, ",", n, "]!")}, 2e-6, kOddBlockings);
}

TEST(MatmulPacked, LargeAndStacked) {
  check_f32(cpu_matmul_packed(), {"MatMul", "f32[130,1500] f32[1500,300]!"});
  check_f32(cpu_matmul_packed(), {"MatMul", "f32[2,3,17,64] f32[64,96]!"}, 2e-6, kOddBlockings);
  check_f32(cpu_matmul_packed(), {"MatMul", "f32[1,2048] f32[2048,520]!"});
  check_f32(cpu_matmul_packed(), {"MatMul", "f32[0,8] f32[8,4]!"});
  check_f32(cpu_matmul_packed(), {"MatMul", "f32[9,0] f32[0,4]!"});
}

TEST(MatmulPacked, EpiloguesInRegisters) {
  const std::string bias = "(f32,f32) %2=add.f32(%0,%1)";
  for (const int m : {1, 5, 21}) {
    const std::string text = cat("f32[", m, ",70] f32[70,45]!"), same = cat("f32[", m, ",45]");
    check_f32(cpu_matmul_packed(), {"MatMul", text, bias + " -> %2", {"f32[45]!"}}, 2e-6, kOddBlockings);
    check_f32(cpu_matmul_packed(), {"MatMul", text, bias + " %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", {"f32[1,45]!"}}, 2e-6,
              kOddBlockings);
    check_f32(cpu_matmul_packed(),
              {"MatMul",
               text,
               "(f32,f32,f32) %3=add.f32(%2,%0) %4=add.f32(%1,%3) %5=constant.f32(-1) %6=constant.f32(1) "
               "%7=min.f32(%4,%6) %8=max.f32(%5,%7) -> %8",
               {same, "f32[45]!"}},
              4e-6, kOddBlockings);  // sums begin at the bias; clamped to less than they are, whose rounding it is relative to
    check_f32(cpu_matmul_packed(),
              {"MatMul", text, "(f32,f32,f32) %3=max.f32(%0,%1) %4=min.f32(%3,%2) -> %4", {"f32[]{-0.5}", "f32[]{0.5}"}}, 2e-6,
              kOddBlockings);
  }
}

TEST(MatmulPacked, NanPassesClamps) {
  check_f32(cpu_matmul_packed(), {"MatMul", "f32[3,2]{nan,1,1,nan,2,2} f32[2,5]!", "(f32) %1=constant.f32(0) %2=max.f32(%0,%1) -> %2"});
}

TEST(MatmulPacked, OtherEpiloguesRunOnHotBlocks) {
  for (const int m : {1, 5, 21}) {
    const std::string text = cat("f32[", m, ",70] f32[70,45]!"), same = cat("f32[", m, ",45]");
    check_f32(cpu_matmul_packed(), {"MatMul", text, "(f32,f32) %2=add.f32(%0,%1) %3=sigmoid.f32(%2) %4=mul.f32(%2,%3) -> %4", {"f32[45]!"}},
              1e-5, kOddBlockings);
    check_f32(cpu_matmul_packed(), {"MatMul", text, "(f32,f32,f32) %3=mul.f32(%0,%1) %4=add.f32(%3,%2) -> %4", {"f32[45]!", same}}, 1e-5,
              kOddBlockings);
    check_f32(cpu_matmul_packed(), {"MatMul", text, "(f32,f32) %2=sub.f32(%0,%1) -> %2", {cat("f32[", m, ",1]")}}, 2e-6, kOddBlockings);
  }
}

TEST(MatmulPacked, RefusesWhatItCannotDo) {
  for (const char* text : {"f32[4,5] f32[5,6]", "f64[4,5] f64[5,6]!", "f32[4,5] f32[3,5,6]!", "f32[4,5] f32[5]!"}) {
    F32Problem problem({"MatMul", text});
    EXPECT_FALSE(cpu_matmul_packed().supports(TacticRun(cpu_matmul_packed(), problem.graph, kAvx2).problem).yes) << text;
  }
  F32Problem grown({"MatMul", "f32[1,5] f32[5,6]!", "(f32,f32) %2=add.f32(%0,%1) -> %2", {"f32[3,6]"}});
  EXPECT_FALSE(cpu_matmul_packed().supports(TacticRun(cpu_matmul_packed(), grown.graph, kAvx2).problem).yes);
  F32Problem problem({"MatMul", "f32[4,5] f32[5,6]!"});
  const TacticRun run(cpu_matmul_packed(), problem.graph, kAvx2);
  for (const Config& c :
       std::vector<Config>{{0, 4, 16}, {7, 4, 16, 4}, {1, 4, 16, 4}, {0, 0, 16, 4}, {0, 1 << 20, 16, 4}, {0, 4, -1, 4}, {0, 4, 16, 0}})
    EXPECT_FALSE(cpu_matmul_packed().valid(run.problem, c).yes);
}

}  // namespace
}  // namespace tenfold::backends
