// matmul_amx_bf16: activations times a constant matrix in bf16 with f32 sums; f32 operands are rounded, where that is permitted.
#include "backends/cpu/tactics/gemm/matmul_amx_common.h"

namespace tenfold::backends {

Tactic cpu_matmul_amx_bf16() {
  Tactic tactic = cpu::matmul_amx("matmul_amx_bf16", 7, 1);
  tactic.cases = {"MatMul f32[33,70] f32[70,65]! numerics={round_to=bf16}"};
  return tactic;
}

}  // namespace tenfold::backends
