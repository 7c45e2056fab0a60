// attention_rows: fused attention of few query rows, as a decoder's step has them: query heads that share keys are rows of one call.
#include <algorithm>
#include <limits>

#include "backends/cpu/tactics/attention/attention_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

constexpr int64_t kMaxRows = 8;   // of a head: from some on packed keys pay

const AttentionKernels& kernels_of(const Problem& p) { return pick(p, tenfold_attention_rows_avx2, tenfold_attention_rows_avx512); }

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  const DType type = p.in[0].dtype;
  if (type != DType::f32 && type != DType::bf16) return Verdict::no("queries are neither f32 nor bf16");
  if (!has_int8_cache(p) && (p.in[1].dtype != type || p.in[2].dtype != type || p.out[0].dtype != type))
    return Verdict::no("queries, keys, values and the result are not of one type");
  if (p.in.size() > 3 && !p.in[3].missing && p.in[3].dtype != DType::f32 && p.in[3].dtype != DType::bf16)
    return Verdict::no("the mask is neither bf16 nor f32");
  if (has_offsets(p)) return Verdict::no("sentences are packed");
  if (p.bounds(p.in[0].dims[2]).upper > kMaxRows) return Verdict::no(cat("more than ", kMaxRows, " query rows"));
  return attention_supports(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::make_shared<AttentionPlan>(p, kernels_of(p), kernels_of(p).max_rows, 1);
}
ir::Dim worker_scratch(const Problem& p, const Config&) {
  return kernels_of(p).scratch_bytes(p.in[0].dims[3].constant(), p.in[2].dims[3].constant());
}

// Rows of one row each that share keys: as many heads at once as a call takes, or fewer where workers would be without a part. No row
// depends on how they are cut.
Status::Code run_shared(const AttentionPlan& plan, const RunArgs& args, int64_t group) {
  const int64_t batch = args.in[0].dims[0], shared = args.in[1].dims[1], workers = args.parallel->workers();
  const int64_t pieces = std::clamp<int64_t>(ceil_div(2 * workers, batch * shared), ceil_div(group, plan.max_rows), group);
  const int64_t each = ceil_div(group, pieces), parts = ceil_div(group, each);
  args.parallel->for_each(batch * shared * parts, [&](int64_t part, int worker) {
    const int64_t first = part % parts * each, g = part / parts % shared, b = part / parts / shared;
    AttentionHead head = attention_head(args, plan, b, g * group + first);
    head.rows = std::min(each, group - first);
    head.q_row = args.in[0].strides[1], head.out_row = args.out[0].strides[1];
    plan.kernels->head(head, args.scratch_of(worker));
  });
  return Status::ok;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& plan = *static_cast<const AttentionPlan*>(self);
  const Bound &q = args.in[0], &k = args.in[1], &v = args.in[2];
  const int64_t group = k.dims[1] > 0 ? q.dims[1] / k.dims[1] : 0;
  const bool heads_share_mask = !plan.masked || args.in[3].rank < 3 || args.in[3].dims[args.in[3].rank - 3] == 1;
  if (q.dims[0] == 0 || q.dims[2] != 1 || group < 2 || v.dims[1] != k.dims[1] || !heads_share_mask) return plan.run(args);
  return run_shared(plan, args, group);
}

}  // namespace

Tactic cpu_attention_rows() {
  return {.name = "attention_rows",
          .ops = {"FusedAttention", {"AttentionInt8Cache", "attention_int8_cache_rows"}},
          .supports = supports,
          .configs = one_config,
          .worker_scratch = worker_scratch,
          .open = open,
          .run = run,
          .work = attention_work,
          .cases = {"FusedAttention f32[1,9,1,64] f32[1,3,300,64] f32[1,3,300,64] f32[1,1,1,300](-9,0) scale=0.125",
                    "FusedAttention f32[2,4,1,40] f32[2,1,131,40] f32[2,1,131,24] scale=0.2",
                    "FusedAttention f32[2,34,1,9] f32[2,2,50,9] f32[2,2,50,130] f32[2,34,1,50](-9,0) scale=0.3",
                    "FusedAttention f32[1,2,8,17] f32[1,2,135,17] f32[1,2,135,7] causal=1 scale=0.3",
                    "FusedAttention bf16[1,9,1,64] bf16[1,3,140,64] bf16[1,3,140,64] f32[1,1,1,140](-9,0) scale=0.125",
                    "FusedAttention bf16[2,4,2,19] bf16[2,4,9,19] bf16[2,4,9,70] bf16[2,1,2,9](-9,0) scale=0.2",
                    "FusedAttention bf16[1,4,1,32] bf16[1,2,150,32] bf16[1,2,150,32] bf16[1,1,1,150](-9,0) scale=0.2",
                    "FusedAttention f32[1,3,3,64] f32[1,3,260,64] f32[1,3,260,64] f32[1,1,3,260](-9,0) scale=0.1",
                    "AttentionInt8Cache f32[1,9,1,64] i8[1,3,300,64] i8[1,3,300,64] f32[1,1,1,300](-9,0) _ "
                    "f32[1,3,300,1](0.005,0.01) f32[1,3,300,1](0.005,0.01) scale=0.125",
                    "AttentionInt8Cache f32[2,34,1,9] i8[2,2,131,9] i8[2,2,131,70] _ _ f32[2,2,131,1](0.005,0.01) "
                    "f32[2,2,131,1](0.005,0.01) scale=0.3",
                    "AttentionInt8Cache f32[1,2,8,17] i8[1,2,135,17] i8[1,2,135,7] f32[1,2,8,135](-9,0) _ "
                    "f32[1,2,135,1](0.005,0.01) f32[1,2,135,1](0.005,0.01) causal=1 scale=0.3"}};
}

}  // namespace tenfold::backends
