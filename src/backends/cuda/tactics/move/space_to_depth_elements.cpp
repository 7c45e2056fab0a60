// space_to_depth_elements: SpaceToDepth, a thread for each element of the result.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  i64 at[8];
  places<4>(a.out[0], i, at);
  const i64 to = offset<4>(a.out[0], at), channels = a.in[0].d[1], block = (i64)((INDEX)at[1] / (INDEX)channels);
  at[1] -= block * channels;
  at[2] = at[2] * BLOCK + block / BLOCK, at[3] = at[3] * BLOCK + block % BLOCK;
  ((TY0*)a.out[0].p)[to] = ((const T0*)a.in[0].p)[offset<4>(a.in[0], at)];
}
)";

Verdict supports(const Problem& p) { return can_generate_threads(p); }

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const std::string head = defined("BLOCK", p.attributes->integer("blocksize"));
  return std::make_shared<OpenThreads>(p, opening, head, kRule);
}

}  // namespace

Tactic cuda_space_to_depth_elements() {
  return {.name = "space_to_depth_elements",
          .ops = {"SpaceToDepth"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
