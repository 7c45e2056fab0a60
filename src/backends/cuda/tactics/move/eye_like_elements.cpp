// eye_like_elements: EyeLike, a thread for each element.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  if (!has_c_type(p.out[0].dtype)) return Verdict::no(cat("elements are ", name(p.out[0].dtype)));
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  KernelText text;
  text.define("DIAGONAL", cat(p.attributes->integer("k"), "ll"));
  return std::make_shared<OpenThreads>(p, opening, "move/eye_like_elements.cu", text);
}

}  // namespace

Tactic cuda_eye_like_elements() {
  return {.name = "eye_like_elements",
          .ops = {"EyeLike"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
