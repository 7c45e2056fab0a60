// lrn_elements: LRN, a thread for each element.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  if (!is_short_float(p.in[0].dtype)) return Verdict::no(cat("elements are ", name(p.in[0].dtype)));
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  KernelText text;
  const auto number = [&](const char* attribute) { return exact(static_cast<double>(p.attributes->number(attribute))); };
  text.define("SIZE", cat(p.attributes->integer("size"), "ll")), text.define("ALPHA", number("alpha"));
  text.define("BETA", number("beta")), text.define("BIAS", number("bias"));
  return std::make_shared<OpenThreads>(p, opening, "norm/lrn_elements.cu", text);
}

}  // namespace

Tactic cuda_lrn_elements() {
  return {.name = "lrn_elements",
          .ops = {"LRN"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each,
          .cases = {"LRN f16[2,64,9,11] size=5 alpha=0.3"}};
}

}  // namespace tenfold::backends
