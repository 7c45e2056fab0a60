// matmul_amx_split: activations times a constant matrix of f32, each in two terms of bf16: three products on AMX come within 2^-16 of f32.
#include "backends/cpu/tactics/gemm/matmul_amx_common.h"

namespace tenfold::backends {

Tactic cpu_matmul_amx_split() {
  Tactic tactic = cpu::matmul_amx("matmul_amx_split", 5, 2);
  tactic.rounds_f32 = true;
  return tactic;
}

}  // namespace tenfold::backends
