// fuse_group_norm_nhwc: near convolutions, 16-bit GroupNorms become GroupNormNhwc, whose kernel works on the channels-last tensors of
// a GPU's convolutions and includes the pointwise operators that follow.
//
// before: (x f16[2,8,6,6], k f16[16,8,3,3]!, w f16[16]!, b f16[16]!)
//   c = Conv(x, k) kernel_shape=[3,3]
//   y = GroupNormalization(c, w, b) num_groups=4
// after: (x f16[2,8,6,6], k f16[16,8,3,3]!, w f16[16]!, b f16[16]!)
//   c = Conv(x, k) kernel_shape=[3,3]
//   y = GroupNormNhwc(c, w, b) num_groups=4
//
// kept: (x f16[2,16,6,6], w f16[16]!, b f16[16]!)
//   y = GroupNormalization(x, w, b) num_groups=4
#include "passes/group_norms_nhwc.h"
#include "passes/pass.h"

namespace tenfold::passes {

Pass pass_fuse_group_norm_nhwc() {
  return {.name = "fuse_group_norm_nhwc", .run = [](ir::Graph& graph) { return fuse_group_norms_nhwc(graph, {DType::f16, DType::bf16}); }};
}

}  // namespace tenfold::passes
