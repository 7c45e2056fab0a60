// transpose_blocks: any permutation, as rows of memory where the innermost axis stays and as blocked transposes where it moves.
#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

std::shared_ptr<const void> open(const Problem& p, const Config&) {
  const auto rank = static_cast<std::int64_t>(p.in[0].dims.size());
  ir::Ints perm;
  for (std::int64_t a = 0; a < rank; ++a) perm.push_back(rank - 1 - a);
  return open_move(p, p.attributes->has("perm") ? p.attributes->ints("perm") : perm);
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const MoveKernel*>(self);
  const Bound &in = args.in[0], &out = args.out[0];
  std::int64_t strides[kMaxRank];
  for (int a = 0; a < out.rank; ++a) strides[a] = in.strides[kernel.numbers[static_cast<std::size_t>(a)]];
  kernel.copy.run(*args.parallel, out.dims, out.rank, out.data, out.strides, in.data, strides);
  return Status::ok;
}

}  // namespace

Tactic cpu_transpose_blocks() {
  return {.name = "transpose_blocks", .op = "Transpose", .supports = can_move, .configs = one_config, .open = open, .run = run};
}

}  // namespace tenfold::backends
