// depth_to_space_rows: DepthToSpace and SpaceToDepth as a copy between views of six axes, in which blocks have axes of their own.
#include <algorithm>

#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

struct Kernel {
  std::shared_ptr<MoveKernel> move;
  int64_t block;
  bool to_space, block_outer;  // among the channels
};
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  const bool to_space = p.op->name == "DepthToSpace";
  return std::make_shared<Kernel>(
      Kernel{open_move(p), p.attributes->integer("blocksize"), to_space, !to_space || p.attributes->string("mode", "DCR") == "DCR"});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound &deep = kernel.to_space ? args.in[0] : args.out[0], &wide = kernel.to_space ? args.out[0] : args.in[0];
  const int64_t block = kernel.block, channels = wide.dims[1];
  if (deep.dims[1] != channels * block * block || wide.dims[2] != deep.dims[2] * block || wide.dims[3] != deep.dims[3] * block)
    return Status::invalid_shape;
  // Batch, channel, row, row of the block, column, column of the block.
  const int64_t dims[] = {wide.dims[0], channels, deep.dims[2], block, deep.dims[3], block};
  const int64_t step = deep.strides[1] * (kernel.block_outer ? channels : 1);
  const int64_t in_deep[] = {
      deep.strides[0], deep.strides[1] * (kernel.block_outer ? 1 : block * block), deep.strides[2], step * block, deep.strides[3], step};
  const int64_t in_wide[] = {wide.strides[0], wide.strides[1],         wide.strides[2] * block,
                             wide.strides[2], wide.strides[3] * block, wide.strides[3]};
  kernel.move->copy.run(*args.parallel, dims, 6, args.out[0].data, kernel.to_space ? in_wide : in_deep, args.in[0].data,
                        kernel.to_space ? in_deep : in_wide);
  return Status::ok;
}

}  // namespace

Tactic cpu_depth_to_space_rows() {
  return {.name = "depth_to_space_rows",
          .ops = {"DepthToSpace", {"SpaceToDepth", "space_to_depth_rows"}},
          .supports = can_move,
          .configs = one_config,
          .formats = same_layouts,
          .open = open,
          .run = run,
          .cases = {"DepthToSpace f32[2,36,7,20] blocksize=2", "DepthToSpace f32[1,27,5,9] blocksize=3 mode=\"CRD\"",
                    "SpaceToDepth f32[2,5,12,40] blocksize=2", "SpaceToDepth u8[1,2,9,6] blocksize=3"}};
}

}  // namespace tenfold::backends
