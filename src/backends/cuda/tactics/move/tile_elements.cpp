// tile_elements: Tile, a thread for each element of the result.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  i64 at[8];
  places<RANKY0>(a.out[0], i, at);
  const i64 to = offset<RANKY0>(a.out[0], at);
  #pragma unroll
  for (int d = 0; d < RANK0; ++d) at[d] = (i64)((INDEX)at[d] % (INDEX)a.in[0].d[d]);
  ((TY0*)a.out[0].p)[to] = ((const T0*)a.in[0].p)[offset<RANK0>(a.in[0], at)];
}
)";

Verdict supports(const Problem& p) { return can_generate_threads(p); }

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  return std::make_shared<OpenThreads>(p, opening, "", kRule);
}

}  // namespace

Tactic cuda_tile_elements() {
  return {.name = "tile_elements",
          .ops = {"Tile"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each,
          .cases = {"Tile f16[3,5,7,2] i64[4]{2,3,4,5}"}};
}

}  // namespace tenfold::backends
