// conv_amx_bf16: channels-last convolution in bf16 with f32 sums.
#include "backends/cpu/gemm/bf16/bf16_verdicts.h"
#include "backends/cpu/tactics/conv/conv_amx_common.h"

namespace tenfold::backends {
namespace {

Verdict supports(const Problem& p) {
  if (const Verdict possible = cpu::bf16_product(p); !possible) return possible;
  return cpu::conv_amx_supports(p);
}

}  // namespace

Tactic cpu_conv_amx_bf16() {
  Tactic tactic = cpu::conv_amx("conv_amx_bf16", supports);
  tactic.cases = {"Conv f32[2,16,14,15] f32[24,16,3,3]! f32[24]! strides=[2,2] pads=[1,1,1,1] "
                  "numerics={round_to=bf16}"};
  return tactic;
}

}  // namespace tenfold::backends
