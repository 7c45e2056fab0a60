// conv_transpose_amx_bf16: transposed convolution without overlap in bf16 with f32 sums.
#include "backends/cpu/gemm/bf16/bf16_verdicts.h"
#include "backends/cpu/tactics/conv/conv_transpose_amx_common.h"

namespace tenfold::backends {
namespace {

Verdict supports(const Problem& p) {
  if (const Verdict possible = cpu::bf16_product(p); !possible) return possible;
  return cpu::conv_transpose_amx_supports(p);
}

}  // namespace

Tactic cpu_conv_transpose_amx_bf16() { return cpu::conv_transpose_amx("conv_transpose_amx_bf16", supports); }

}  // namespace tenfold::backends
