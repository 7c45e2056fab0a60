// depth_to_space_elements: DepthToSpace, a thread for each element of the result.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) { return can_generate_threads(p); }

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  KernelText text;
  text.define("BLOCK", p.attributes->integer("blocksize")), text.define("OUTER", p.attributes->string("mode") == "DCR" ? "true" : "false");
  return std::make_shared<OpenThreads>(p, opening, "move/depth_to_space_elements.cu", text);
}

}  // namespace

Tactic cuda_depth_to_space_elements() {
  return {.name = "depth_to_space_elements",
          .ops = {"DepthToSpace"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
