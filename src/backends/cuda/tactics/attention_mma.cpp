// attention_mma: attention of f16 and bf16 on tensor cores; configurations are the warps of a block.
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/attention_common.h"
#include "backends/cuda/tactics/mma_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

int shared_bytes(const Problem& p, std::int64_t warps) {
  AttentionProblem a = attention_problem(p);
  a.warps = static_cast<int>(warps);
  return attention_shared_bytes(a);
}

Verdict supports(const Problem& p) {
  if (Verdict v = attention_is_regular(p); !v) return v;
  if (p.in[0].dtype == DType::f32) return Verdict::no("f32 is computed without rounding to f16");
  if (p.in[0].dtype == DType::bf16 && p.device->arch < 80) return Verdict::no("needs sm_80 for bf16");
  if (p.in[0].dims[3].constant() > 128 || p.in[2].dims[3].constant() > 128) return Verdict::no("a head of more than 128");
  return Verdict::only_if(shared_bytes(p, 1) <= shared_limit(p.device->arch), "a step needs more shared memory than a block may have");
}

std::vector<Config> configs(const Problem& p) {
  std::vector<Config> all;
  for (std::int64_t warps : {4, 2, 8, 1})
    if (shared_bytes(p, warps) <= shared_limit(p.device->arch)) all.push_back({warps});
  return all;
}
Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 1 || (c[0] != 1 && c[0] != 2 && c[0] != 4 && c[0] != 8)) return Verdict::no("there is no such number of warps");
  return Verdict::only_if(shared_bytes(p, c[0]) <= shared_limit(p.device->arch), "a step needs more shared memory than a block may have");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function vectors = nullptr, singles = nullptr;
  int warps = 4, shared_bytes = 0;
  bool masked = false, mask_tiles = false;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c) {
  AttentionProblem a = attention_problem(p);
  a.warps = static_cast<int>(c[0]);
  auto k = std::make_shared<Kernel>();
  k->module = Device::get(p.device->ordinal).load(generate_attention_mma(a));
  k->shared_bytes = attention_shared_bytes(a);
  k->vectors = k->module->function("vectors", k->shared_bytes), k->singles = k->module->function("singles", k->shared_bytes);
  k->warps = a.warps, k->masked = a.masked, k->mask_tiles = a.mask_tiles;
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
                static_cast<unsigned>(k.shared_bytes), &a);
}

}  // namespace

Tactic cuda_attention_mma() {
  return {.name = "attention_mma",
          .op = "FusedAttention",
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .open = open,
          .run = run,
          .work = attention_work};
}

}  // namespace tenfold::backends
