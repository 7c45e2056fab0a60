// attention_mma: attention of f16, bf16, e4m3 and, where it may be rounded to tf32, f32 on tensor cores; configurations are the warps of a
// block, and how keys come: step by step, all at once, or all at once in blocks that stay; f32 and e4m3 step by step.
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/attention/attention_common.h"
#include "backends/cuda/tactics/gemm/mma_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

// {warps, 0 for keys in steps, 1 for all at once, 2 for blocks that stay, 3 for those with two rows of fragments}
constexpr std::int64_t kSteps = 0, kAtOnce = 1, kStaying = 2, kTwoRows = 3;
constexpr std::int64_t kMaxWarps = 16;
AttentionProblem configured(const Problem& p, const Config& c) {
  AttentionProblem a = attention_problem(p);
  a.warps = static_cast<int>(c[0]);
  if (c[1] == kSteps) return a;
  const std::int64_t step = c[1] >= kStaying || a.packed ? 32 : 16;
  a.whole = static_cast<int>(ceil_div(std::max<std::int64_t>(max_keys(p), 1), step) * step);
  a.exactly = !a.packed && p.in[1].dims[2] == ir::Dim(a.whole);
  if (c[1] < kStaying) return a;
  a.row_blocks = c[1] == kTwoRows ? 2 : 1;
  a.blocks = std::max(1, (a.size <= 32 && a.value_size <= 32 ? 24 : 16) / a.row_blocks / a.warps);   // as registers allow
  while (a.blocks > 1 && a.blocks * (attention_shared_bytes(a) + 1024) > shared_limit(p.device->arch)) --a.blocks;
  return a;
}
bool can_be_whole(const Problem& p) { return max_keys(p) <= kMaxWholeKeys && bits(p.in[0].dtype) == 16; }
bool fits(const Problem& p, const Config& c) { return attention_shared_bytes(configured(p, c)) <= shared_limit(p.device->arch); }

Verdict supports(const Problem& p) {
  if (p.body && !is_of_float8(p)) return Verdict::no("no epilogue is possible");
  if (soft_cap(p) > 0) return Verdict::no("scores have a soft cap");
  if (Verdict v = attention_is_regular(p); !v) return v;
  if (Verdict v = heads_fit_a_grid(p); !v) return v;
  const DType type = p.in[0].dtype;
  if (type == DType::f32 && !p.numerics.allows(ir::Rounding::tf32))
    return Verdict::no("TF32 is not allowed (--noTF32, BuildConfig::tf32 = false)");
  if (type == DType::f8e4m3fn && p.device->arch < 89) return Verdict::no("needs sm_89 for e4m3");
  if (type != DType::f16 && p.device->arch < 80) return Verdict::no(type == DType::f32 ? "needs sm_80 for tf32" : "needs sm_80 for bf16");
  if (p.in[0].dims[3].constant() > 128 || p.in[2].dims[3].constant() > 128) return Verdict::no("a head of more than 128");
  return Verdict::only_if(fits(p, {1, 0}), "a step needs more shared memory than a block may have");
}

std::vector<Config> configs(const Problem& p) {
  std::vector<Config> all;
  const std::int64_t blocks_of_queries = ceil_div(std::max<std::int64_t>(max_queries(p), 1), std::int64_t{16});
  if (can_be_whole(p) && !has_offsets(p) && p.device->arch >= 80 && blocks_of_queries <= kMaxWarps) {
    const std::int64_t half = std::max<std::int64_t>((blocks_of_queries + 1) / 2, 1);
    const Config quarter{std::max<std::int64_t>(half / 2, 1), kTwoRows};
    for (const Config& c : {Config{half, kTwoRows}, quarter, Config{blocks_of_queries, kStaying}})
      if (fits(p, c)) all.push_back(c);
  }
  for (std::int64_t whole : {1, 0})
    for (std::int64_t warps : {4, 8, 2, 1}) {
      if (whole == 1 && (warps == 1 || !can_be_whole(p))) continue;
      if (whole == 0 && warps == 1 && !all.empty()) continue;   // where nothing larger fits
      if (fits(p, {warps, whole})) all.push_back({warps, whole});
    }
  return all;
}
Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 2 || c[0] < 1 || c[0] > kMaxWarps) return Verdict::no("there is no such number of warps");
  if (c[1] != kSteps && (c[1] < kAtOnce || c[1] > kTwoRows || !can_be_whole(p)))
    return Verdict::no("there are too many keys to be there at once");
  if (c[1] >= kStaying && has_offsets(p))
    return Verdict::no("a persistent block needs sequences of one length; this batch is packed (cu_seqlens)");
  return Verdict::only_if(fits(p, c), "a step needs more shared memory than a block may have");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function vectors = nullptr, singles = nullptr;
  int queries = 64, warps = 4, shared_bytes = 0;  // of a block
  std::uint64_t element = 2, result = 2, stored = 4;  // bytes: of an operand's element, of a result, of those that are stored at once
  std::int64_t resident = 0;  // blocks that stay; 0: none do
  std::int64_t longest = 0;   // of packed sentences
  bool masked = false, mask_tiles = false;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  const AttentionProblem a = configured(p, c);
  auto k = std::make_shared<Kernel>();
  k->module = device_of(*p.device).load(generate_attention_mma(a), opening);
  k->shared_bytes = attention_shared_bytes(a);
  k->vectors = k->module->function("vectors", k->shared_bytes), k->singles = k->module->function("singles", k->shared_bytes);
  if (a.blocks > 0) k->resident = a.blocks * device_of(*p.device).multiprocessors();
  if (a.packed) k->longest = std::max<std::int64_t>(max_keys(p), 1);
  k->element = static_cast<std::uint64_t>(bits(a.dtype) / 8), k->result = static_cast<std::uint64_t>(bits(a.out) / 8);
  k->stored = (bits(a.dtype) == 8 ? 4 : 2) * k->result;
  k->queries = 16 * a.row_blocks * a.warps, k->warps = a.warps, k->masked = a.masked, k->mask_tiles = a.mask_tiles && a.whole == 0;
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const AttentionArguments a = attention_arguments(args, k.masked, k.longest);
  const AttentionExtent extent = attention_extent(a);
  const auto number = [](const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); };
  std::uint64_t by_16 = number(a.q) | number(a.k) | number(a.v), by_stored = number(a.y);
  for (int d = 0; d < 3; ++d) {
    by_16 |= static_cast<std::uint64_t>(a.q_stride[d] | a.k_stride[d] | a.v_stride[d]) * k.element;
    by_stored |= static_cast<std::uint64_t>(a.y_stride[d]) * k.result;
    if (k.mask_tiles) by_16 |= static_cast<std::uint64_t>(a.mask_stride[d]) * 2;
  }
  if (k.mask_tiles) by_16 |= number(a.mask);
  const std::int64_t across = ceil_div(extent.queries, std::int64_t{k.queries});
  const Grid grid = k.resident > 0 ? Grid{std::min(k.resident, across * a.heads * a.batches)} : Grid{across, a.heads, extent.batches};
  const Function function = by_16 % 16 == 0 && by_stored % k.stored == 0 ? k.vectors : k.singles;
  return launch(queue_of(args), function, grid, static_cast<unsigned>(32 * k.warps), static_cast<unsigned>(k.shared_bytes), &a,
                Start::early);
}

}  // namespace

Tactic cuda_attention_mma() {
  return {.name = "attention_mma",
          .version = 4,
          .ops = {"FusedAttention", {"AttentionFloat8", "attention_float8_mma"}},
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .open = open,
          .run = run,
          .work = attention_work,
          .cases = {"FusedAttention f32[2,2,150,64] f32[2,2,97,64] f32[2,2,97,64] f32[2,1,1,97](-9,0) scale=0.125 "
                    "numerics={round_to=tf32}",
                    "FusedAttention f32[1,3,40,17] f32[1,3,70,17] f32[1,3,70,7] f32[1,1,40,70](-9,0) scale=0.2 "
                    "numerics={round_to=tf32}",
                    "FusedAttention f32[1,4,130,40] f32[1,2,130,40] f32[1,2,130,52] causal=1 scale=0.2 "
                    "numerics={round_to=tf32}",
                    "FusedAttention f32[1,2,120,32] f32[1,2,120,32] f32[1,2,120,32] _ i32[4]{0,13,33,100} "
                    "scale=0.17 numerics={round_to=tf32}",
                    "FusedAttention f16[2,3,128,32] f16[2,3,300,32] f16[2,3,300,40] f16[2,1,128,300](-9,0) "
                    "scale=0.17",
                    "FusedAttention f16[1,1,130,17] f16[1,1,131,17] f16[1,1,131,7] f16[1,1,130,1](-9,0) scale=0.2",
                    "FusedAttention bf16[1,2,200,64] bf16[1,2,250,64] bf16[1,2,250,48] causal=1 scale=0.1",
                    "FusedAttention bf16[17,2,200,64] bf16[17,2,250,64] bf16[17,2,250,48] causal=1 scale=0.1",
                    "FusedAttention f16[23,3,100,32] f16[23,3,90,32] f16[23,3,90,40] f16[23,1,100,90](-9,0) "
                    "scale=0.17",
                    "FusedAttention bf16[2,4,140,80] bf16[2,2,270,80] bf16[2,2,270,80] f32[2,1,1,270](-9,0) "
                    "scale=0.1",
                    "FusedAttention bf16[1,4,540,32] bf16[1,2,540,32] bf16[1,2,540,32] _ i32[4]{0,13,333,530} "
                    "causal=1 scale=0.17",
                    "AttentionFloat8 f8e4m3fn[2,3,130,64] f8e4m3fn[2,3,300,64] f8e4m3fn[2,3,300,64] f32[2,1,1,300](-9,0) "
                    "scale=0.125 value_scale=0.5",
                    "AttentionFloat8 f8e4m3fn[1,4,70,48] f8e4m3fn[1,2,97,48] f8e4m3fn[1,2,97,80] f16[1,1,70,97](-9,0) "
                    "scale=0.2",
                    "AttentionFloat8 f8e4m3fn[1,2,100,17] f8e4m3fn[1,2,131,17] f8e4m3fn[1,2,131,7] causal=1 scale=0.2"}};
}

}  // namespace tenfold::backends
