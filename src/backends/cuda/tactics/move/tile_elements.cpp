// tile_elements: Tile, a thread for each element of the result.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) { return can_generate_threads(p); }

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  return std::make_shared<OpenThreads>(p, opening, "move/tile_elements.cu");
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
