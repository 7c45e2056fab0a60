// rotary_cache_update_elements: RotaryCacheUpdate, a thread for each element that is written.
#include "backends/cuda/tactics/attention/rotary_common.h"
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  const DType type = p.in[0].dtype;
  for (std::size_t i = 1; i < 5; ++i)
    if (p.in[i].dtype != type) return Verdict::no("queries, keys, values and caches differ in type");
  const RotaryTables tables{p.in[5], p.in[6], &p.in[7]};
  for (std::size_t i = 0; i < 2; ++i)
    if (Verdict v = can_turn(p, p.in[i], tables, 0); !v) return v;
  for (std::size_t i = 1; i < 3; ++i)
    if (Verdict v = can_scatter(p, p.in[i + 2], p.in[i], 2); !v) return v;
  if (!is_index(p.in[8].dtype)) return Verdict::no("starts are not i32 or i64");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  KernelText text;
  define_rotation(text, p);
  text.define("CIRCULAR", p.attributes->string("mode") == "circular" ? "true" : "false");
  return std::make_shared<OpenThreads>(p, opening, "attention/rotary_cache_update_elements.cu", text,
                                       std::vector<std::string>{"element", "update"});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& k = *static_cast<const OpenThreads*>(self);
  const bool stay = args.in[3].data == args.out[1].data && args.in[4].data == args.out[2].data;
  const std::size_t first = stay ? 1 : 3;
  return k.run(args, stay ? 1 : 0, elements_of(args.in[0]) + elements_of(args.in[first]) + elements_of(args.in[first + 1]));
}

// An element of a cache reads its own alone, or none.
bool may_alias(const Problem&, int in, int out) { return out > 0 && in == out + 2; }

}  // namespace

Tactic cuda_rotary_cache_update_elements() {
  return {.name = "rotary_cache_update_elements",
          .ops = {"RotaryCacheUpdate"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .may_alias = may_alias,
          .cases = {"RotaryCacheUpdate f16[1,16,1,64] f16[1,4,1,64] f16[1,4,1,64] f16[1,4,70,64] f16[1,4,70,64] f32[90,32] f32[90,32] "
                    "i32[1,1](0,89) i64[1]{69}",
                    "RotaryCacheUpdate bf16[2,3,5,40] bf16[2,1,5,40] bf16[2,1,5,40] bf16[2,1,9,40] bf16[2,1,9,40] f32[30,12] f32[30,12] "
                    "i64[2,5](0,29) i32[2]{0,4} rotary_embedding_dim=24"}};
}

}  // namespace tenfold::backends
