// lrn_elements: LRN, a thread for each element.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  i64 at[8];
  places<RANK0>(a.in[0], i, at);
  const T0* x = (const T0*)a.in[0].p + offset<RANK0>(a.in[0], at);
  const i64 c = at[1], last = min(a.in[0].d[1] - 1, c + SIZE - 1 - (SIZE - 1) / 2);
  float squares = 0.f;
  for (i64 k = max((i64)0, c - (SIZE - 1) / 2); k <= last; ++k) {
    const float v = LOAD0(x[(k - c) * a.in[0].s[1]]);
    squares += v * v;
  }
  const float r = LOAD0(*x) * powf(BIAS + ALPHA / (float)SIZE * squares, -BETA);
  ((TY0*)a.out[0].p)[offset<RANK0>(a.out[0], at)] = STOREY0(r);
}
)";

Verdict supports(const Problem& p) {
  if (!is_short_float(p.in[0].dtype)) return Verdict::no(cat("elements are ", name(p.in[0].dtype)));
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const auto number = [&](const char* attribute) { return exact(static_cast<double>(p.attributes->number(attribute))); };
  const std::string head = defined("SIZE", cat(p.attributes->integer("size"), "ll")) + defined("ALPHA", number("alpha")) +
                           defined("BETA", number("beta")) + defined("BIAS", number("bias"));
  return std::make_shared<OpenThreads>(p, opening, head, kRule);
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
