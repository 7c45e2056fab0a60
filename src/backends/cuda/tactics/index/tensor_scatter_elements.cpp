// tensor_scatter_elements: TensorScatter, a thread for each element of the update where the cache stays in its memory, else one for each
// element of the cache: it comes of the update or stays. A position that leaves no room is noted.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  if (given(p, 2) && !is_index(p.in[2].dtype)) return Verdict::no("positions are not i32 or i64");
  const auto rank = static_cast<std::int64_t>(p.in[0].dims.size());
  const auto axis = static_cast<std::size_t>((p.attributes->integer("axis") + rank) % rank);
  for (std::size_t d = 0; d < p.in[0].dims.size(); ++d)
    if (d != axis && p.in[0].dims[d] != p.in[1].dims[d]) return Verdict::no("extents beside the axis may differ");
  if (p.bounds(p.in[1].dims[axis] - p.in[0].dims[axis]).upper > 0) return Verdict::no("the update may be longer than the cache");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const auto rank = static_cast<std::int64_t>(p.in[0].dims.size());
  KernelText text;
  text.define("AXIS", (p.attributes->integer("axis") + rank) % rank);
  text.define("CIRCULAR", p.attributes->string("mode") == "circular" ? "true" : "false");
  return std::make_shared<OpenThreads>(p, opening, "index/tensor_scatter_elements.cu", text, std::vector<std::string>{"element", "update"});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& k = *static_cast<const OpenThreads*>(self);
  const bool stays = args.in[0].data == args.out[0].data;
  return k.run(args, stays ? 1 : 0, elements_of(stays ? args.in[1] : args.out[0]));
}

}  // namespace

Tactic cuda_tensor_scatter_elements() {
  return {.name = "tensor_scatter_elements",
          .ops = {"TensorScatter"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .may_alias = [](const Problem&, int in, int out) { return in == 0 && out == 0; }};  // an element reads its own alone, or none
}

}  // namespace tenfold::backends
