// concat_rows: every operand copied to its place along the axis.
#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return open_move(p, {wrapped(p.attributes->integer("axis"), static_cast<int>(p.out[0].dims.size()))});
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const MoveKernel*>(self);
  const Bound& out = args.out[0];
  const auto axis = kernel.numbers[0];
  char* to = out.as<char>();
  for (const Bound& in : args.in) {
    kernel.copy.run(*args.parallel, in.dims, in.rank, to, out.strides, in.data, in.strides);
    to += in.dims[axis] * out.strides[axis] * kernel.element_bytes();
  }
  return Status::ok;
}

}  // namespace

Tactic cpu_concat_rows() {
  return {.name = "concat_rows",
          .ops = {"Concat"},
          .supports = can_move,
          .configs = one_config,
          .formats = same_layouts,
          .open = open,
          .run = run,
          .cases = {"Concat f32[2,35,20,21] f32[2,3,20,21] axis=1"}};
}

}  // namespace tenfold::backends
