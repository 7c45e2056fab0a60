// attention_split_kv: attention of few queries over many keys (flash-decoding), as a step of a decoder asks for it; the configuration is
// {blocks that share the keys of a head}.
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/attention/attention_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kWarps = 8;
constexpr int64_t kMaxRows = 8, kMaxSplit = 8, kSharedBytes = 46 << 10;   // blocks of a cluster that every device takes; static memory
constexpr int64_t kMaxKeys = int64_t{1} << 30;

// Queries that read one head of keys, at most; 0 where that is not known.
int64_t rows_of(const Problem& p) {
  const ir::Dim queries = p.in[0].dims[1], keys = p.in[1].dims[1];
  if (!queries.is_constant() || !keys.is_constant() || keys.constant() < 1 || queries.constant() % keys.constant() != 0) return 0;
  const int64_t most = p.bounds(p.in[0].dims[2]).upper, group = queries.constant() / keys.constant();
  return most > kMaxRows ? 0 : group * std::max<int64_t>(most, 1);
}

std::vector<Config> configs(const Problem& p) {
  std::vector<Config> all;
  for (int64_t split = p.device->arch >= 90 ? kMaxSplit : 1; split > 0; split /= 2) all.push_back({split});
  return all;
}

Verdict supports(const Problem& p) {
  if (Verdict v = attention_is_regular(p); !v) return v;
  if (Verdict v = heads_fit_a_grid(p); !v) return v;
  if (has_offsets(p)) return Verdict::no("packed variable-length batches (cu_seqlens) are not supported");
  if (p.body) return Verdict::no("it takes no epilogue");
  const int64_t rows = rows_of(p), size = p.in[0].dims[3].constant(), bytes = bits(p.in[0].dtype) / 8, lanes = size * bytes / 16;
  if (rows < 1 || rows > kMaxRows) return Verdict::no("more than 8 queries may share a head of keys");
  if (size != p.in[2].dims[3].constant()) return Verdict::no("values have another size than keys");
  if (size * bytes % 16 != 0 || lanes > 32 || (lanes & (lanes - 1)) != 0)
    return Verdict::no("a row of keys is not 16, 32, 64, 128, 256 or 512 bytes");
  if (rows * size * 4 * (kWarps + 1) > kSharedBytes) return Verdict::no("queries and head size are too large for shared memory");
  return Verdict::only_if(p.bounds(p.in[1].dims[2]).upper < kMaxKeys, "more than 2^30 keys");
}

Verdict valid(const Problem& p, const Config& c) {
  const bool known = c.size() == 1 && c[0] >= 1 && c[0] <= kMaxSplit && (c[0] & (c[0] - 1)) == 0;
  if (!known) return Verdict::no("there is no such number of blocks");
  return Verdict::only_if(c[0] == 1 || p.device->arch >= 90, "clusters need sm_90");
}

// All heads and queries of a batch entry see the same keys.
bool mask_is_shared(const ir::Dims& mask) {
  const auto is_one = [&](std::size_t from_end) { return mask.size() < from_end || mask[mask.size() - from_end] == ir::Dim(1); };
  return is_one(2) && is_one(3);
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
  int64_t split = 1;
  bool masked = false;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  AttentionProblem a = attention_problem(p);
  a.warps = kWarps;
  auto k = std::make_shared<Kernel>();
  k->split = c[0], k->masked = a.masked;
  const ir::Dim queries = p.in[0].dims[2];
  const SplitKv shape{rows_of(p), queries.is_constant() ? queries.constant() : 0, a.masked && mask_is_shared(p.in[3].dims),
                      static_cast<int>(c[0])};
  k->module = device_of(*p.device).load(generate_attention_split_kv(a, shape), opening);
  k->function = k->module->function("attention");
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const AttentionArguments a = attention_arguments(args, k.masked, 0);
  if (a.queries == 0 || a.heads == 0 || a.batches == 0) return Status::ok;
  return launch(queue_of(args), k.function, {k.split, a.heads / a.group, a.batches}, 32 * kWarps, 0, &a, Start::early);
}

}  // namespace

Tactic cuda_attention_split_kv() {
  return {.name = "attention_split_kv",
          .ops = {"FusedAttention"},
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .open = open,
          .run = run,
          .work = attention_work,
          .cases = {"FusedAttention f16[1,8,1,64] f16[1,2,600,64] f16[1,2,600,64] f16[1,1,1,600](-9,0) scale=0.125",
                    "FusedAttention bf16[2,6,1,128] bf16[2,2,37,128] bf16[2,2,37,128] scale=0.09",
                    "FusedAttention f32[2,4,2,32] f32[2,2,301,32] f32[2,2,301,32] f32[2,1,2,301](-9,0) scale=0.2",
                    "FusedAttention f16[1,4,2,64](-4,4) f16[1,4,3,64](-4,4) f16[1,4,3,64] causal=1 scale=0.125 softcap=5.0",
                    "FusedAttention f16[3,7,1,64] f16[3,1,90,64] f16[3,1,90,64] f32[3,7,1,90](-9,0) scale=0.125",
                    "FusedAttention f16[2,4,1,16] f16[2,4,1100,16] f16[2,4,1100,16] "
                    "f32[2,1,1,1100](-3.4028234e38,-3.4028234e38) scale=0.25"}};
}

}  // namespace tenfold::backends
