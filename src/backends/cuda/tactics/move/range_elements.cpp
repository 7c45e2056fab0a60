// range_elements: Range, a thread for each element.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  const C0 start = LOAD0(*(const T0*)a.in[0].p), step = LOAD0(*(const T2*)a.in[2].p);
  ((TY0*)a.out[0].p)[i * a.out[0].s[0]] = STOREY0((CY0)(start + (C0)i * step));
}
)";

Verdict supports(const Problem& p) {
  if (!has_c_type(p.out[0].dtype) || p.out[0].dtype == DType::boolean) return Verdict::no(cat("elements are ", name(p.out[0].dtype)));
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  return std::make_shared<OpenThreads>(p, opening, "", kRule);
}

}  // namespace

Tactic cuda_range_elements() {
  return {.name = "range_elements",
          .ops = {"Range"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
