// split_rows: every output copied from its place along the axis.
#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return open_move(p, {wrapped(p.attributes->integer("axis"), static_cast<int>(p.in[0].dims.size()))});
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const MoveKernel*>(self);
  const Bound& in = args.in[0];
  const auto axis = kernel.numbers[0];
  const char* from = in.as<const char>();
  for (const Bound& out : args.out) {
    if (out.data) kernel.copy.run(*args.parallel, out.dims, out.rank, out.data, out.strides, from, in.strides);
    from += out.dims[axis] * in.strides[axis] * kernel.element_bytes();
  }
  return Status::ok;
}
Verdict supports(const Problem& p) {
  for (const OperandDesc& out : p.out)
    if (out.missing) return Verdict::no("an output is not wanted");
  return can_move(p);
}

}  // namespace

Tactic cpu_split_rows() {
  return {.name = "split_rows",
          .ops = {"Split"},
          .supports = supports,
          .configs = one_config,
          .formats = same_layouts,
          .open = open,
          .run = run,
          .cases = {"Split f32[3,70,31] axis=1 outputs=2"}};
}

}  // namespace tenfold::backends
