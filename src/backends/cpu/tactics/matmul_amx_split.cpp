// matmul_amx_split: activations times a constant matrix of f32, each in two parts of bf16: three products on AMX come within 2^-16 of f32.
#include "backends/cpu/gemm/gemm_bf16.h"
#include "backends/cpu/tactics/matmul_amx_common.h"

namespace tenfold::backends {
namespace {

Verdict supports(const Problem& p) {
  const Verdict possible = cpu::split_product(p);
  return possible ? cpu::matmul_amx_supported(p) : possible;
}

}  // namespace

Tactic cpu_matmul_amx_split() {
  Tactic tactic = cpu::matmul_amx("matmul_amx_split", 5);
  tactic.supports = supports;
  tactic.rounds_f32 = true;
  return tactic;
}

}  // namespace tenfold::backends
