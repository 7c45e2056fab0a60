// batch_norm_elements: BatchNormalization with stored statistics that are no constants, a thread for each element.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  if (p.attributes->integer("training_mode") != 0) return Verdict::no("statistics of the batch itself");
  for (std::size_t i = 0; i < 5; ++i) {
    if (!is_short_float(p.in[i].dtype)) return Verdict::no(cat("an operand is ", name(p.in[i].dtype)));
    if (i > 0 && p.in[i].dims.size() != 1) return Verdict::no("the parameters are no vectors");
    if (i > 0 && p.in[0].dims.size() > 1 && p.in[i].dims[0] != p.in[0].dims[1])
      return Verdict::no("there may be more or fewer parameters than channels");
  }
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  KernelText text;
  text.define("EPSILON", exact(static_cast<double>(p.attributes->number("epsilon"))));
  return std::make_shared<OpenThreads>(p, opening, "norm/batch_norm_elements.cu", text);
}

}  // namespace

Tactic cuda_batch_norm_elements() {
  return {.name = "batch_norm_elements",
          .ops = {"BatchNormalization"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
