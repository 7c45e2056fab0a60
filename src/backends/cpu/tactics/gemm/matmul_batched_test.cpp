// matmul_batched against the reference: stacks, broadcast stacks, depths and widths around the panels, epilogues.
#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_matmul_batched();
namespace {

using namespace testing;

const std::vector<Config> kOddBlockings = {{0, 7, 16, 5}, {0, 24, 48, 64}, {1, 13, 32, 9}};

TEST(MatmulBatched, Stacks) {
  for (const char* text :
       {"f32[5,7] f32[7,3]", "f32[2,3,4,5] f32[3,5,6]", "f32[2,1,9,5] f32[1,4,5,33]", "f32[4,5] f32[3,5,6]", "f32[3,17,40] f32[40,50]",
        "f32[2,12,31,64] f32[2,12,64,31]", "f32[3,1,70] f32[3,70,65]", "f32[2,3,0] f32[2,0,5]", "f32[0,3,4] f32[0,4,5]"})
    check_f32(cpu_matmul_batched(), {"MatMul", text}, 2e-6, kOddBlockings);
}

TEST(MatmulBatched, Epilogues) {
  check_f32(cpu_matmul_batched(), {"MatMul", "f32[2,9,20] f32[2,20,30]", "(f32) %1=constant.f32(0.125) %2=mul.f32(%0,%1) -> %2"}, 2e-6,
            kOddBlockings);
  check_f32(cpu_matmul_batched(), {"MatMul", "f32[2,9,20] f32[2,20,30]", "(f32,f32) %2=add.f32(%0,%1) -> %2", {"f32[2,1,30]"}}, 2e-6,
            kOddBlockings);
  check_f32(cpu_matmul_batched(), {"MatMul", "f32[2,9,20] f32[2,20,30]", "(f32,f32) %2=add.f32(%0,%1) -> %2", {"f32[2,9,30]"}}, 2e-6,
            kOddBlockings);
}

}  // namespace
}  // namespace tenfold::backends
