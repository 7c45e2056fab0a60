// range_elements: Range, a thread for each element.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  if (!has_c_type(p.out[0].dtype) || p.out[0].dtype == DType::boolean) return Verdict::no(cat("elements are ", name(p.out[0].dtype)));
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  return std::make_shared<OpenThreads>(p, opening, "move/range_elements.cu");
}

}  // namespace

Tactic cuda_range_elements() {
  return {.name = "range_elements",
          .ops = {"Range"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
