// center_crop_pad_elements: CenterCropPad, a thread for each element of the result.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) { return can_generate_threads(p); }

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  return std::make_shared<OpenThreads>(p, opening, "move/center_crop_pad_elements.cu");
}

}  // namespace

Tactic cuda_center_crop_pad_elements() {
  return {.name = "center_crop_pad_elements",
          .ops = {"CenterCropPad"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
