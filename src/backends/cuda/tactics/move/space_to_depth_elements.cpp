// space_to_depth_elements: SpaceToDepth, a thread for each element of the result.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) { return can_generate_threads(p); }

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  KernelText text;
  text.define("BLOCK", p.attributes->integer("blocksize"));
  return std::make_shared<OpenThreads>(p, opening, "move/space_to_depth_elements.cu", text);
}

}  // namespace

Tactic cuda_space_to_depth_elements() {
  return {.name = "space_to_depth_elements",
          .ops = {"SpaceToDepth"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
