// fuse_group_norm_nhwc_on_hosts: what fuse_group_norm_nhwc does for GPUs, in f32 for CPUs, whose convolutions write channels-last
// tensors, too.
//
// before: (x f32[2,8,6,6], k f32[16,8,3,3]!, w f32[16]!, b f32[16]!)
//   c = Conv(x, k) kernel_shape=[3,3]
//   y = InstanceNormalization(c, w, b)
// after: (x f32[2,8,6,6], k f32[16,8,3,3]!, w f32[16]!, b f32[16]!)
//   c = Conv(x, k) kernel_shape=[3,3]
//   y = GroupNormNhwc(c, w, b) num_groups=16
#include "passes/group_norms_nhwc.h"
#include "passes/pass.h"

namespace tenfold::passes {

Pass pass_fuse_group_norm_nhwc_on_hosts() {
  return {.name = "fuse_group_norm_nhwc_on_hosts", .run = [](ir::Graph& graph) { return fuse_group_norms_nhwc(graph, {DType::f32}); }};
}

}  // namespace tenfold::passes
