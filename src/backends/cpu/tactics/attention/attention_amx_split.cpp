// attention_amx_split: fused attention of f32 heads, whose products take each f32 as two terms of bf16; exponentials and sums are f32.
#include "backends/cpu/gemm/bf16/bf16_verdicts.h"
#include "backends/cpu/tactics/attention/attention_amx_common.h"

namespace tenfold::backends {
namespace {

Verdict supports(const Problem& p) {
  if (const Verdict possible = cpu::split_gemm(p); !possible) return possible;
  for (std::size_t i = 2; i < p.in.size() && i < 4; ++i)
    if (!p.in[i].missing && p.in[i].dtype != DType::f32) return Verdict::no("an operand is not f32");
  if (!(p.attributes->number("scale") > 0)) return Verdict::no("the scale is not positive");
  return cpu::attention_supports(p);
}

}  // namespace

Tactic cpu_attention_amx_split() {
  Tactic tactic = cpu::AttentionAmx<cpu::tenfold_attention_split_amx>::tactic("attention_amx_split", supports);
  tactic.rounds_f32 = true;
  return tactic;
}

}  // namespace tenfold::backends
