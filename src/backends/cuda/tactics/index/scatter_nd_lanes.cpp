// scatter_nd_lanes: ScatterND whose updates are combined. Those of one element of the slices follow each other. An index outside the data
// is noted and its update left out.
#include "backends/cuda/tactics/index/scatter_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  if (p.attributes->string("reduction", "none") == "none")
    return Verdict::no("updates are not combined, so they need not wait for each other");
  if (!p.in[1].dims.back().is_constant()) return Verdict::no("how many dims are indexed is not known");
  // What the operator wants of the updates is compared by the reference alone, unless the types say it.
  const auto depth = static_cast<std::ptrdiff_t>(p.in[1].dims.back().constant());
  ir::Dims requested(p.in[1].dims.begin(), p.in[1].dims.end() - 1);
  requested.insert(requested.end(), p.in[0].dims.begin() + depth, p.in[0].dims.end());
  if (p.in[2].dims != requested) return Verdict::no("the updates' extents are not those that indices and data ask for");
  return can_combine(p, ir::product(std::span(p.in[1].dims).first(p.in[1].dims.size() - 1)));
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  KernelText text;
  text.define("DEPTH", p.in[1].dims.back().constant()), define_scatter(text, p);
  return std::make_shared<OpenThreads>(p, opening, "index/scatter_nd_lanes.cu", text, std::vector<std::string>{"copy", "lane", "owner"});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const std::int64_t depth = args.in[1].dims[args.in[1].rank - 1];
  std::int64_t rows = 1, slice = 1;
  for (int d = 0; d + 1 < args.in[1].rank; ++d) rows *= args.in[1].dims[d];
  for (std::int64_t d = depth; d < args.in[0].rank; ++d) slice *= args.in[0].dims[d];
  return run_scatter(*static_cast<const OpenThreads*>(self), args, slice, rows);
}

}  // namespace

Tactic cuda_scatter_nd_lanes() {
  return {.name = "scatter_nd_lanes",
          .ops = {"ScatterND"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"ScatterND f32[40,5000] i64[9,1](0,39) f32[9,5000] reduction=\"add\"",
                    "ScatterND f32[30,20,3] i64[70,2](0,19) f32[70,3] reduction=\"min\""}};
}

}  // namespace tenfold::backends
