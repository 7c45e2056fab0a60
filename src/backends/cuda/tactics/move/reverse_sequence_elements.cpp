// reverse_sequence_elements: ReverseSequence, a thread for each element. A length beyond the steps is noted, and nothing turned.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  if (!is_index(p.in[1].dtype)) return Verdict::no("lengths are not i32 or i64");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  KernelText text;
  text.define("TIME", p.attributes->integer("time_axis"));
  return std::make_shared<OpenThreads>(p, opening, "move/reverse_sequence_elements.cu", text);
}

}  // namespace

Tactic cuda_reverse_sequence_elements() {
  return {.name = "reverse_sequence_elements",
          .ops = {"ReverseSequence"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
