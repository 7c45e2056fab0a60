// transpose_tiles: a permutation of dims through tiles in shared memory, where rows of the source are columns of the result.
#include "backends/cuda/tactics/move/tiles_common.h"
#include "backends/cuda/tactics/move/transpose_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  if (p.in[0].layout != kPlain || p.out[0].layout != kPlain) return Verdict::no("an operand is not in plain layout");
  const std::vector<int> perm = transpose_permutation(p);
  if (!perm.empty() && perm.back() == static_cast<int>(perm.size()) - 1)
    return Verdict::no("the innermost axis is unchanged: a copy of rows does that");
  return can_tile(p.in[0], p.out[0]);
}

struct Kernel {
  std::shared_ptr<const void> tiles;
  std::vector<int> permutation;
};
std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  return std::make_shared<Kernel>(Kernel{open_tiles(p.in[0].dtype, c[0] != 0, *p.device, opening), transpose_permutation(p)});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const BoundView from = permuted(args.in[0], kernel.permutation);
  return run_tiles(kernel.tiles.get(), queue_of(args), from.bound, args.out[0]);
}

}  // namespace

Tactic cuda_transpose_tiles() {
  return {.name = "transpose_tiles",
          .ops = {"Transpose"},
          .supports = supports,
          .configs = tile_configs,
          .valid = valid_tiles,
          .open = open,
          .run = run,
          .cases = {"Transpose f16[3,130,262] perm=[0,2,1]",
                    "Transpose f16[3,4,70,66] perm=[3,0,2,1]"}};
}

}  // namespace tenfold::backends
