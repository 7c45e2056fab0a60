// col2im_elements: Col2Im, a thread for each pixel, which sums up the columns that hold it; the kernel reads the block's extents.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  if (!is_short_float(p.in[0].dtype)) return Verdict::no(cat("elements are ", name(p.in[0].dtype)));
  if (!is_index(p.in[2].dtype)) return Verdict::no("the block's extents are not i32 or i64");
  if (!p.in[1].constant || !p.in[2].constant) return Verdict::no("image or block are data, and the columns may not suit them");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  KernelText text;
  define_window(text, p);
  return std::make_shared<OpenThreads>(p, opening, "move/col2im_elements.cu", text);
}

}  // namespace

Tactic cuda_col2im_elements() {
  return {.name = "col2im_elements",
          .ops = {"Col2Im"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
