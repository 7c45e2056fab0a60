// matmul_amx_bf16: activations times a constant matrix in bf16 with f32 sums; f32 operands are rounded, where that is permitted.
#include "backends/cpu/gemm/gemm_bf16.h"
#include "backends/cpu/tactics/matmul_amx_common.h"

namespace tenfold::backends {
namespace {

Verdict supports(const Problem& p) {
  const Verdict possible = cpu::bf16_product(p);
  return possible ? cpu::matmul_amx_supported(p) : possible;
}

}  // namespace

Tactic cpu_matmul_amx_bf16() {
  Tactic tactic = cpu::matmul_amx("matmul_amx_bf16", 7);
  tactic.supports = supports;
  return tactic;
}

}  // namespace tenfold::backends
