// matmul_strassen against the reference: halves that lack a row or columns, blocks of every kind, epilogues.
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_matmul_strassen();
namespace {

using namespace testing;

constexpr double kTolerance = 5e-6;  // sums of sums: a few times that of a plain product
const std::vector<Config> kOddBlockings = {{0, 7, 16, 5},  {0, 24, 48, 64}, {0, 240, 1, 1000},
                                           {1, 13, 32, 9}, {1, 40, 96, 64}, {4, 11, 48, 30}};

void check(const std::string& text, const std::string& body = "", const std::vector<std::string>& extra = {}) {
  check_f32(cpu_matmul_strassen(), {"MatMul", text, body, extra}, kTolerance, kOddBlockings);
}

TEST(MatmulStrassen, AnyNumberOfRows) {
  for (const int m : {64, 65, 71, 77, 94, 95, 130, 485}) check(cat("f32[", m, ",150] f32[150,129]!"));
}

TEST(MatmulStrassen, AnyWidthAndDepth) {  // the right half is narrower than the left one by up to a panel, or ends a panel earlier
  for (const int n : {128, 130, 143, 161, 193, 200, 255})
    for (const int k : {128, 134, 386}) check(cat("f32[66,", k, "] f32[", k, ",", n, "]!"));
}

TEST(MatmulStrassen, LargeAndStacked) {
  check("f32[130,1500] f32[1500,300]!");
  check("f32[2,5,17,128] f32[128,160]!");
  check("f32[3,67,128] f32[128,160]!", "(f32,f32) %2=add.f32(%0,%1) -> %2", {"f32[3,67,160]"});
}

TEST(MatmulStrassen, NaNStaysInItsExample) {
  F32Problem problem({"MatMul", "f32[3,66,128] f32[128,130]!"});
  std::fill_n(problem.operands[0].mutable_data<float>() + 66 * 128, 66 * 128, std::nanf(""));
  const Tensor truth = problem.truth();
  const TacticRun run(cpu_matmul_strassen(), problem.graph, kAvx2);
  Serial serial;
  for (const Config& config : cpu_matmul_strassen().configs(run.problem))
    EXPECT_LE(relative_difference(run.run(config, problem.operands, serial)[0], truth), kTolerance);
}

TEST(MatmulStrassen, Epilogues) {
  const std::string text = "f32[101,130] f32[130,205]!", same = "f32[101,205]";
  check(text, "(f32,f32) %2=add.f32(%0,%1) %3=constant.f32(0) %4=max.f32(%2,%3) -> %4", {"f32[1,205]!"});
  check(text, "(f32,f32,f32) %3=add.f32(%2,%0) %4=add.f32(%1,%3) -> %4", {same, "f32[205]!"});
  check(text, "(f32,f32) %2=add.f32(%0,%1) %3=sigmoid.f32(%2) %4=mul.f32(%2,%3) -> %4", {"f32[205]!"});
  check(text, "(f32,f32) %2=sub.f32(%0,%1) -> %2", {"f32[101,1]"});
}

TEST(MatmulStrassen, RefusesWhatItCannotDo) {
  for (const char* text : {"f32[128,256] f32[256,256]", "f32[128,255] f32[255,256]!", "f32[63,256] f32[256,256]!",
                           "f32[4,32,256] f32[256,256]!", "f32[128,256] f32[256,64]!"}) {
    F32Problem problem({"MatMul", text});
    EXPECT_FALSE(cpu_matmul_strassen().supports(TacticRun(cpu_matmul_strassen(), problem.graph, kAvx2).problem).yes) << text;
  }
  F32Problem problem({"MatMul", "f32[128,256] f32[256,256]!"});
  const TacticRun run(cpu_matmul_strassen(), problem.graph, kAvx2);
  const std::vector<Config> bad{{0, 4, 16}, {7, 4, 16, 4}, {1, 4, 16, 4}, {0, 0, 16, 4}, {0, 241, 16, 4}, {0, 4, -1, 4}, {0, 4, 16, 0}};
  for (const Config& c : bad)
    EXPECT_FALSE(cpu_matmul_strassen().valid(run.problem, c).yes);
}

}  // namespace
}  // namespace tenfold::backends
