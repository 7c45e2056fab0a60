// one_hot_elements: OneHot, a thread for each element of the result, which compares its place with the index.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  if (!has_c_type(p.in[0].dtype)) return Verdict::no(cat("indices are ", name(p.in[0].dtype)));
  if (p.in[2].dims != ir::Dims{ir::Dim(2)}) return Verdict::no("how many values there are is not known");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const auto rank = static_cast<std::int64_t>(p.out[0].dims.size());
  KernelText text;
  text.define("AXIS", (p.attributes->integer("axis") + rank) % rank);
  return std::make_shared<OpenThreads>(p, opening, "index/one_hot_elements.cu", text);
}

}  // namespace

Tactic cuda_one_hot_elements() {
  return {.name = "one_hot_elements",
          .ops = {"OneHot"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each,
          .cases = {"OneHot i64[30,7](-40,40) i64[]{37} f32[2] axis=1"}};
}

}  // namespace tenfold::backends
