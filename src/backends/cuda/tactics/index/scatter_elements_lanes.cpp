// scatter_elements_lanes: ScatterElements with every reduction. The updates of one line along the axis follow each other. An index outside
// the data is noted and its update left out.
#include "backends/cuda/tactics/index/scatter_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  if (p.in[0].dims.empty()) return Verdict::no("a scalar has no axis");
  // What the operator wants of the updates is compared by the reference alone, unless the types say it.
  const auto rank = static_cast<std::int64_t>(p.in[0].dims.size());
  const auto axis = static_cast<std::size_t>((p.attributes->integer("axis") + rank) % rank);
  if (p.in[1].dims != p.in[2].dims) return Verdict::no("there may be more or fewer updates than indices");
  for (std::size_t d = 0; d < p.in[0].dims.size(); ++d)
    if (d != axis && p.bounds(p.in[2].dims[d] - p.in[0].dims[d]).upper > 0) return Verdict::no("the updates may be larger than the data");
  return can_combine(p, p.in[2].dims[axis]);
}

struct Kernel {
  OpenThreads threads;
  std::size_t axis;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const auto rank = static_cast<std::int64_t>(p.in[0].dims.size());
  const std::int64_t axis = (p.attributes->integer("axis") + rank) % rank;
  KernelText text;
  text.define("AXIS", axis), define_scatter(text, p);
  return std::make_shared<Kernel>(Kernel{OpenThreads(p, opening, "index/scatter_elements_lanes.cu", text, {"copy", "lane", "owner"}),
                                         static_cast<std::size_t>(axis)});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const std::int64_t updates = args.in[2].dims[k.axis], all = elements_of(args.in[2]);
  return run_scatter(k.threads, args, updates > 0 ? all / updates : 0, updates);
}

}  // namespace

Tactic cuda_scatter_elements_lanes() {
  return {.name = "scatter_elements_lanes",
          .ops = {"ScatterElements"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"ScatterElements f32[500,7] i64[90,7](-500,499) f32[90,7] reduction=\"add\"",
                    "ScatterElements f32[40,5000] i64[9,4999](0,39) f32[9,4999]",
                    "ScatterElements f16[40,5000] i32[9,4999](0,39) f16[9,4999] reduction=\"add\""}};
}

}  // namespace tenfold::backends
