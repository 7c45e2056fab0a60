// conv_amx_split: channels-last convolution of f32, whose values are sums of three terms in bf16: six products of terms on AMX come as
// near as FMA does (Henry, Tang, Heinecke: Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision Computations).
// So --noTF32 has no say in it. Values below 1e-33 keep 16 bits, below 3e-36 8: tiles take terms that are denormal for zero. An infinity
// times a weight that is none is infinite; times an infinite weight it is NaN, for the terms behind infinities are zeros.
#include "backends/cpu/gemm/bf16/bf16_verdicts.h"
#include "backends/cpu/tactics/conv/conv_amx_common.h"

namespace tenfold::backends {
namespace {

Verdict supports(const Problem& p) {
  if (const Verdict possible = cpu::split_gemm(p); !possible) return possible;
  return cpu::conv_amx_supports(p);
}

}  // namespace

Tactic cpu_conv_amx_split() { return cpu::conv_amx("conv_amx_split", supports); }

}  // namespace tenfold::backends
