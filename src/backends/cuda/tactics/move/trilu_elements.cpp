// trilu_elements: Trilu, a thread for each element; the kernel reads which diagonal.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  if (given(p, 1) && !is_index(p.in[1].dtype)) return Verdict::no("the diagonal is not i32 or i64");
  if (given(p, 1) && ir::product(p.in[1].dims) != ir::Dim(1)) return Verdict::no("the diagonal is no single number");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  KernelText text;
  text.define("UPPER", p.attributes->integer("upper") != 0 ? 1 : 0);
  return std::make_shared<OpenThreads>(p, opening, "move/trilu_elements.cu", text);
}

}  // namespace

Tactic cuda_trilu_elements() {
  return {.name = "trilu_elements",
          .ops = {"Trilu"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each,
          .cases = {"Trilu f16[3,70,90] i64[]{-7} upper=0"}};
}

}  // namespace tenfold::backends
