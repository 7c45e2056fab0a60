// attention_flash: fused attention of f32 heads that may be strided views; the score matrix is never stored.
#include "backends/cpu/tactics/attention/attention_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

const AttentionKernels& kernels_of(const Problem& p) { return pick(p, tenfold_attention_avx2, tenfold_attention_avx512); }

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (!has_int8_cache(p))
    for (std::size_t i = 0; i < p.in.size() && i < 4; ++i)
      if (!p.in[i].missing && p.in[i].dtype != DType::f32) return Verdict::no("an operand is not f32");
  return attention_supports(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  constexpr std::int64_t kTileRows = 12;  // of the kernel
  return std::make_shared<AttentionPlan>(p, kernels_of(p), kernels_of(p).max_rows, kTileRows);
}
ir::Dim worker_scratch(const Problem& p, const Config&) {
  return kernels_of(p).scratch_bytes(p.in[0].dims[3].constant(), p.in[2].dims[3].constant());
}
Status::Code run(const void* self, const RunArgs& args) noexcept { return static_cast<const AttentionPlan*>(self)->run(args); }

}  // namespace

Tactic cpu_attention_flash() {
  return {.name = "attention_flash",
          .ops = {"FusedAttention", {"AttentionInt8Cache", "attention_int8_cache_flash"}},
          .supports = supports,
          .configs = one_config,
          .worker_scratch = worker_scratch,
          .open = open,
          .run = run,
          .work = attention_work,
          .cases = {"FusedAttention f32[1,2,197,64] f32[1,2,197,64] f32[1,2,197,64] scale=0.125",
                    "FusedAttention f32[1,3,128,32] f32[1,3,300,32] f32[1,3,300,40] f32[1,1,128,300](-9,0) "
                    "scale=0.17",
                    "FusedAttention f32[2,3,343,4] f32[2,3,343,4] f32[2,3,343,4] f32[2,3,343,343](-9,0) scale=0.5",
                    "FusedAttention f32[1,2,50,9] f32[1,2,51,9] f32[1,2,51,6] causal=1 scale=0.3",
                    "FusedAttention f32[1,2,150,24] f32[1,2,150,24] f32[1,2,150,24] causal=1 scale=0.2",
                    "FusedAttention f32[1,1,130,17] f32[1,1,131,17] f32[1,1,131,7] f32[1,1,130,1](-9,0) scale=0.2",
                    "AttentionInt8Cache f32[1,4,150,64] i8[1,2,300,64] i8[1,2,300,64] f32[1,1,150,300](-9,0) _ "
                    "f32[1,2,300,1](0.005,0.01) f32[1,2,300,1](0.005,0.01) scale=0.1",
                    "AttentionInt8Cache f32[2,2,19,9] i8[2,2,131,9] i8[2,2,131,6] _ _ f32[2,2,131,1](0.005,0.01) "
                    "f32[2,2,131,1](0.005,0.01) causal=1 scale=0.3"}};
}

}  // namespace tenfold::backends
