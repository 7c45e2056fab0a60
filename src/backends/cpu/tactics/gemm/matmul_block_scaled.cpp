// matmul_block_scaled: floats times a constant matrix of 4 or 8 bits with a scale for each block of a column. With few rows, weights become
// floats in registers, and the product is bound by reading them as they are.
#include "backends/cpu/tactics/gemm/block_scaled_common.h"

namespace tenfold::backends {

Tactic cpu_matmul_block_scaled() {
  Tactic tactic = cpu::block_scaled_tactic("matmul_block_scaled", false);
  tactic.cases = {"MatMulBlockScaled f32[1,100] i4[100,70]! f32[4,70](0.01,0.05)! block_size=32",
                  "MatMulBlockScaled f32[13,600] u4[600,70]! f32[10,70](0.01,0.05)! u4[10,70]! block_size=64",
                  "MatMulBlockScaled f32[140,50] u8[50,70]! f32[1,70](0.01,0.05)! u8[1,70]! block_size=50",
                  "MatMulBlockScaled f32[11,64] i8[64,33]! f32[4,33](0.01,0.05)! i8[4,33]! block_size=16",
                  "MatMulBlockScaled f32[1,608] f4e2m1[608,70]! f32[38,70](0.01,0.05)! block_size=16",
                  "MatMulBlockScaled f32[7,100] f4e2m1[100,33]! f32[4,33](0.01,0.05)! block_size=32",
                  "MatMulBlockScaled f32[140,96] f4e2m1[96,70]! f32[3,70](0.01,0.05)! block_size=32",
                  "MatMulBlockScaled f32[1,608] f4e2m1[608,70]! f8e8m0[19,70](0.01,0.05)! block_size=32",
                  "MatMulBlockScaled f32[5,100] f4e2m1[100,33]! f8e4m3fn[7,33](0.002,0.3)! block_size=16",
                  "MatMulBlockScaled f32[140,96] f4e2m1[96,70]! f8e4m3fn[6,70](-1,400)! block_size=16 scale_factor=0.0002"};
  return tactic;
}

}  // namespace tenfold::backends
