// attention_mma: attention of f16 and bf16 on tensor cores; configurations are the warps of a block, and whether all keys are there
// at once.
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/attention_common.h"
#include "backends/cuda/tactics/mma_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

// {warps, 1 for all keys at once}
AttentionProblem configured(const Problem& p, const Config& c) {
  AttentionProblem a = attention_problem(p);
  a.warps = static_cast<int>(c[0]);
  if (c[1] == 0) return a;
  const ir::Dim keys = p.in[1].dims[2];
  a.whole = static_cast<int>(ceil_div(std::max<std::int64_t>(p.bounds(keys).upper, 1), std::int64_t{16}) * 16);
  a.exactly = keys == ir::Dim(a.whole);
  return a;
}
bool can_be_whole(const Problem& p) { return p.bounds(p.in[1].dims[2]).upper <= kMostWholeKeys; }
bool fits(const Problem& p, const Config& c) { return attention_shared_bytes(configured(p, c)) <= shared_limit(p.device->arch); }

Verdict supports(const Problem& p) {
  if (Verdict v = attention_is_regular(p); !v) return v;
  if (p.in[0].dtype == DType::f32) return Verdict::no("f32 is computed without rounding to f16");
  if (p.in[0].dtype == DType::bf16 && p.device->arch < 80) return Verdict::no("needs sm_80 for bf16");
  if (p.in[0].dims[3].constant() > 128 || p.in[2].dims[3].constant() > 128) return Verdict::no("a head of more than 128");
  return Verdict::only_if(fits(p, {1, 0}), "a step needs more shared memory than a block may have");
}

std::vector<Config> configs(const Problem& p) {
  std::vector<Config> all;
  for (std::int64_t whole : {1, 0})
    for (std::int64_t warps : {4, 8, 2, 1}) {
      if (whole == 1 && (warps == 1 || !can_be_whole(p))) continue;
      if (whole == 0 && warps == 1 && !all.empty()) continue;   // where nothing larger fits
      if (fits(p, {warps, whole})) all.push_back({warps, whole});
    }
  return all;
}
Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 2 || (c[0] != 1 && c[0] != 2 && c[0] != 4 && c[0] != 8)) return Verdict::no("there is no such number of warps");
  if (c[1] != 0 && (c[1] != 1 || !can_be_whole(p))) return Verdict::no("there are too many keys to be there at once");
  return Verdict::only_if(fits(p, c), "a step needs more shared memory than a block may have");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function vectors = nullptr, singles = nullptr;
  int warps = 4, shared_bytes = 0;
  bool masked = false, mask_tiles = false;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c) {
  const AttentionProblem a = configured(p, c);
  auto k = std::make_shared<Kernel>();
  k->module = Device::get(p.device->ordinal).load(generate_attention_mma(a));
  k->shared_bytes = attention_shared_bytes(a);
  k->vectors = k->module->function("vectors", k->shared_bytes), k->singles = k->module->function("singles", k->shared_bytes);
  k->warps = a.warps, k->masked = a.masked, k->mask_tiles = a.mask_tiles && a.whole == 0;
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const AttentionArguments a = attention_arguments(args, k.masked);
  const Bound& q = args.in[0];
  const auto number = [](const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); };
  std::uint64_t by_16 = number(a.q) | number(a.k) | number(a.v), by_4 = number(a.y);
  for (int d = 0; d < 3; ++d) {
    by_16 |= static_cast<std::uint64_t>(a.q_stride[d] | a.k_stride[d] | a.v_stride[d]) * 2;
    by_4 |= static_cast<std::uint64_t>(a.y_stride[d]) * 2;
    if (k.mask_tiles) by_16 |= static_cast<std::uint64_t>(a.mask_stride[d]) * 2;
  }
  if (k.mask_tiles) by_16 |= number(a.mask);
  const Grid grid{static_cast<unsigned>(ceil_div(a.queries, std::int64_t{16} * k.warps)), static_cast<unsigned>(q.dims[1]),
                  static_cast<unsigned>(q.dims[0])};
  return launch(queue_of(args), by_16 % 16 == 0 && by_4 % 4 == 0 ? k.vectors : k.singles, grid, static_cast<unsigned>(32 * k.warps),
                static_cast<unsigned>(k.shared_bytes), &a, Start::early);
}

}  // namespace

Tactic cuda_attention_mma() {
  return {.name = "attention_mma",
          .version = 2,
          .op = "FusedAttention",
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .open = open,
          .run = run,
          .work = attention_work};
}

}  // namespace tenfold::backends
