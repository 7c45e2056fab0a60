// matmul_spread against the reference: rows of every length that fits, ends of every length, epilogues.
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_matmul_spread();
namespace {

using namespace testing;

const std::vector<Config> kOddParts = {{0, 1}, {0, 7}, {0, 1000}};

TEST(MatmulSpread, RowsOfEveryLength) {
  for (int n = 1; n <= 40; ++n) check_f32(cpu_matmul_spread(), {"MatMul", cat("f32[11,1] f32[1,", n, "]!")}, 2e-6, kOddParts);
  for (const int n : {4, 6, 7, 13, 53, 130, 700})
    check_f32(cpu_matmul_spread(), {"MatMul", cat("f32[2,19,2] f32[2,", n, "]!")}, 2e-6, kOddParts);
  for (const int k : {3, 4}) check_f32(cpu_matmul_spread(), {"MatMul", cat("f32[37,", k, "] f32[", k, ",29]!")}, 2e-6, kOddParts);
}

TEST(MatmulSpread, AnyNumberOfRows) {
  for (int m = 0; m <= 40; ++m) check_f32(cpu_matmul_spread(), {"MatMul", cat("f32[", m, ",2] f32[2,5]!")});
}

TEST(MatmulSpread, Epilogues) {
  const std::string text = "f32[21,3] f32[3,14]!", bias = "(f32,f32) %2=add.f32(%0,%1)";
  check_f32(cpu_matmul_spread(), {"MatMul", text, bias + " %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", {"f32[14]!"}}, 2e-6, kOddParts);
  check_f32(cpu_matmul_spread(), {"MatMul", text, bias + " -> %2", {"f32[21,14]"}}, 2e-6, kOddParts);
  check_f32(cpu_matmul_spread(), {"MatMul", text, bias + " %3=sigmoid.f32(%2) %4=mul.f32(%2,%3) -> %4", {"f32[14]!"}}, 1e-5, kOddParts);
  check_f32(cpu_matmul_spread(), {"MatMul", "f32[3,2]{nan,1,1,nan,2,2} f32[2,5]!", "(f32) %1=constant.f32(0) %2=max.f32(%0,%1) -> %2"});
}

TEST(MatmulSpread, RefusesRowsThatDoNotFit) {
  F32Problem problem({"MatMul", "f32[9,40] f32[40,4]!"});
  EXPECT_FALSE(cpu_matmul_spread().supports(TacticRun(cpu_matmul_spread(), problem.graph, kAvx2).problem).reason.empty());
}

}  // namespace
}  // namespace tenfold::backends
