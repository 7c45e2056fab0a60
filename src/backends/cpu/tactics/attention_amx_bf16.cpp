// attention_amx_bf16: fused attention with products of bf16 and sums of f32; heads are bf16, or f32 where bf16 is permitted.
#include "backends/cpu/gemm/gemm_bf16.h"
#include "backends/cpu/tactics/attention_common.h"
#include "backends/cpu/tactics/epilogue_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr std::int64_t kTileRows = 16;

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

// {query rows of a part}: keys and values are packed anew for each.
std::vector<Config> configs(const Problem& p) {
  std::vector<Config> all;
  const std::int64_t rows = round_up(std::max<std::int64_t>(likely(p, p.in[0].dims[2], 128), 1), kTileRows);
  for (const std::int64_t most : {256, 128, 64, 32})
    if (all.empty() || most < rows) all.push_back({most});
  return all;
}
Verdict valid(const Problem&, const Config& c) {
  return Verdict::only_if(c.size() == 1 && c[0] > 0 && c[0] <= tenfold_attention_amx.max_rows && c[0] % kTileRows == 0,
                          "its rows of a part are out of range");
}

std::shared_ptr<const void> open(const Problem& p, const Config& c) {
  return std::make_shared<AttentionPlan>(p, tenfold_attention_amx, c[0], kTileRows);
}
ir::Dim worker_scratch(const Problem& p, const Config&) {
  return tenfold_attention_amx.scratch_bytes(p.in[0].dims[3].constant(), p.in[2].dims[3].constant());
}
Status::Code run(const void* self, const RunArgs& args) noexcept { return static_cast<const AttentionPlan*>(self)->run(args); }

}  // namespace

Tactic cpu_attention_amx_bf16() {
  return {.name = "attention_amx_bf16",
          .op = "FusedAttention",
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .worker_scratch = worker_scratch,
          .open = open,
          .run = run,
          .work = attention_work};
}

}  // namespace tenfold::backends
