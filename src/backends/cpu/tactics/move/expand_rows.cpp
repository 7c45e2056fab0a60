// expand_rows: Expand as a copy whose source does not move along broadcast axes.
#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) { return open_move(p); }
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Bound &in = args.in[0], &out = args.out[0];
  std::int64_t strides[kMaxRank];
  for (int a = 0; a < out.rank; ++a) {
    const int own = a - (out.rank - in.rank);
    strides[a] = own < 0 || in.dims[own] == 1 ? 0 : in.strides[own];
  }
  static_cast<const MoveKernel*>(self)->copy.run(*args.parallel, out.dims, out.rank, out.data, out.strides, in.data, strides);
  return Status::ok;
}

}  // namespace

Tactic cpu_expand_rows() {
  return {.name = "expand_rows",
          .ops = {"Expand"},
          .supports = can_move,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"Expand f32[70,1,33] i64[4]{3,70,20,33}"}};
}

}  // namespace tenfold::backends
