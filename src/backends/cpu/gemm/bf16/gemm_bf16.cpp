// Which loops a bf16 product runs.
#include "backends/cpu/gemm/bf16/gemm_bf16.h"

#include "backends/cpu/gemm/bf16/gemm_bf16_loops.h"

namespace tenfold::backends::cpu {
namespace {

bool whole_pairs_of_panels(const GemmBf16Plan& plan, const GemmBf16Call& call) {
  return (call.last_panel - call.first_panel) % 2 == 0 && call.last_panel * GemmBf16Plan::kNr <= plan.matrix.n;
}

}  // namespace

void gemm_bf16(const GemmBf16Plan& plan, const GemmBf16Call& call) noexcept {
  const GemmBf16Kernels& kernels = gemm_bf16_kernels();
  kernels.enter();
  if (plan.micro_kernel == GemmBf16Plan::MicroKernel::strips && whole_pairs_of_panels(plan, call))
    gemm_bf16_strips(plan, call);
  else if (plan.k == GemmBf16Plan::K::in_pieces)
    gemm_bf16_k_pieces(plan, call);
  else
    gemm_bf16_k_whole(plan, call);
  kernels.leave();
}

}  // namespace tenfold::backends::cpu
