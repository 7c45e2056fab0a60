// matmul_amx_whole: activations times a constant matrix of f32, each in three parts of bf16, which have all its bits: six products on AMX
// come as near as FMA does, so that --noTF32 has no say in it (conv_amx_split says more). Weights are read as f32 and cut as they stream
// by.
#include "backends/cpu/gemm/gemm_bf16.h"
#include "backends/cpu/tactics/matmul_amx_common.h"

namespace tenfold::backends {
namespace {

Verdict supports(const Problem& p) {
  const Verdict possible = cpu::split_product(p);
  return possible ? cpu::matmul_amx_supported(p) : possible;
}

}  // namespace

Tactic cpu_matmul_amx_whole() {
  Tactic tactic = cpu::matmul_amx("matmul_amx_whole", 2, true);
  tactic.supports = supports;
  return tactic;
}

}  // namespace tenfold::backends
