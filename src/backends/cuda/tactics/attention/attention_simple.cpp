// attention_simple: attention of any float type and of e4m3, a block for each query; for f32, and where nothing else runs.
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/attention/attention_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr std::int64_t kMaxKeys = 8192;  // their scores lie in shared memory

Verdict supports(const Problem& p) {
  if (Verdict v = attention_is_regular(p); !v) return v;
  if (Verdict v = heads_fit_a_grid(p); !v) return v;
  return Verdict::only_if(max_keys(p) <= kMaxKeys, "more than 8192 keys");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
  std::int64_t longest = 0;   // of packed sentences
  bool masked = false;
};
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const AttentionProblem a = attention_problem(p);
  auto k = std::make_shared<Kernel>();
  k->module = device_of(*p.device).load(generate_attention_simple(a), opening);
  k->function = k->module->function("attention");
  k->masked = a.masked;
  if (a.packed) k->longest = std::max<std::int64_t>(max_keys(p), 1);
  return k;
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const AttentionArguments a = attention_arguments(args, k.masked, k.longest);
  const AttentionExtent extent = attention_extent(a);
  const Grid grid{extent.queries, a.heads, extent.batches};
  const auto shared_bytes =
      static_cast<unsigned>(((k.longest > 0 ? k.longest : a.keys) + 3) / 4 * 16);  // the compiler reads the last scores four at a time
  return launch(queue_of(args), k.function, grid, kSimpleThreads, shared_bytes, &a, Start::early);
}

}  // namespace

Tactic cuda_attention_simple() {
  return {.name = "attention_simple",
          .ops = {"FusedAttention", {"AttentionFloat8", "attention_float8_simple"}},
          .supports = supports,
          .configs = [](const Problem&) { return std::vector<Config>{{0}}; },
          .open = open,
          .run = run,
          .work = attention_work,
          .cases = {"FusedAttention bf16[1,1,300,16] bf16[1,1,530,16] bf16[1,1,530,256] bf16[1,1,300,1](-9,0) "
                    "scale=0.25",
                    "FusedAttention f32[1,2,30,16](-4,4) f32[1,2,50,16](-4,4) f32[1,2,50,16] scale=0.25 softcap=2.0"}};
}

}  // namespace tenfold::backends
