// conv_transpose_amx_split: transposed convolution of f32 without overlap, as conv_amx_split.
#include "backends/cpu/gemm/bf16/bf16_verdicts.h"
#include "backends/cpu/tactics/conv/conv_transpose_amx_common.h"

namespace tenfold::backends {
namespace {

Verdict supports(const Problem& p) {
  if (const Verdict possible = cpu::split_gemm(p); !possible) return possible;
  return cpu::conv_transpose_amx_supports(p);
}

}  // namespace

Tactic cpu_conv_transpose_amx_split() { return cpu::conv_transpose_amx("conv_transpose_amx_split", supports); }

}  // namespace tenfold::backends
