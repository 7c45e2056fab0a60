// gather_nd_elements: GatherND, a thread for each element of the result. An index outside the data gives zero and is noted.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  if (!is_index(p.in[1].dtype)) return Verdict::no("indices are not i32 or i64");
  if (!p.in[1].dims.back().is_constant()) return Verdict::no("how many dims are indexed is not known");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  KernelText text;
  text.define("BATCH", p.attributes->integer("batch_dims")), text.define("DEPTH", p.in[1].dims.back().constant());
  return std::make_shared<OpenThreads>(p, opening, "index/gather_nd_elements.cu", text);
}

}  // namespace

Tactic cuda_gather_nd_elements() {
  return {.name = "gather_nd_elements",
          .ops = {"GatherND"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each,
          .cases = {"GatherND f16[3,40,50,7] i64[3,11,13,2](-40,39) batch_dims=1"}};
}

}  // namespace tenfold::backends
