// attention_amx_bf16: fused attention with products of bf16 and sums of f32; heads are bf16, or f32 where bf16 is permitted.
#include "backends/cpu/gemm/bf16/bf16_verdicts.h"
#include "backends/cpu/tactics/attention/attention_amx_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

Verdict supports(const Problem& p) {
  if (const Verdict possible = bf16_product(p); !possible) return possible;
  if (p.in.size() > 3 && !p.in[3].missing && p.in[3].dtype != DType::bf16 && p.in[3].dtype != DType::f32)
    return Verdict::no("the mask is neither bf16 nor f32");
  const DType type = p.in[0].dtype;
  if (p.in[1].dtype != type || p.in[2].dtype != type || p.out[0].dtype != type)
    return Verdict::no("queries, keys, values and the result are not of one type");
  if (!(p.attributes->number("scale") > 0)) return Verdict::no("the scale is not positive");
  return attention_supports(p);
}

}  // namespace

Tactic cpu_attention_amx_bf16() {
  Tactic tactic = AttentionAmx<tenfold_attention_amx>::tactic("attention_amx_bf16", supports);
  tactic.cases = {"FusedAttention f32[1,2,197,64] f32[1,2,197,64] f32[1,2,197,64] numerics={round_to=bf16} "
                  "scale=0.125",
                  "FusedAttention f32[1,2,40,17] f32[1,2,300,17] f32[1,2,300,7] f32[1,1,40,300](-9,0) "
                  "numerics={round_to=bf16} scale=0.2"};
  return tactic;
}

}  // namespace tenfold::backends
