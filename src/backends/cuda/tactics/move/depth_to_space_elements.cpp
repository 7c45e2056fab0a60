// depth_to_space_elements: DepthToSpace, a thread for each element of the result.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  i64 at[8];
  places<4>(a.out[0], i, at);
  const i64 to = offset<4>(a.out[0], at), inner = (i64)((INDEX)at[2] % BLOCK * BLOCK + (INDEX)at[3] % BLOCK);
  at[1] = OUTER ? inner * a.out[0].d[1] + at[1] : at[1] * (BLOCK * BLOCK) + inner;
  at[2] = (i64)((INDEX)at[2] / BLOCK), at[3] = (i64)((INDEX)at[3] / BLOCK);
  ((TY0*)a.out[0].p)[to] = ((const T0*)a.in[0].p)[offset<4>(a.in[0], at)];
}
)";

Verdict supports(const Problem& p) { return can_generate_threads(p); }

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const std::string head =
      defined("BLOCK", p.attributes->integer("blocksize")) + defined("OUTER", p.attributes->string("mode") == "DCR" ? "true" : "false");
  return std::make_shared<OpenThreads>(p, opening, head, kRule);
}

}  // namespace

Tactic cuda_depth_to_space_elements() {
  return {.name = "depth_to_space_elements",
          .ops = {"DepthToSpace"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
