// fuse_group_norm_nhwc: beside convolutions, GroupNorms in 16 bits become GroupNormNhwc, whose kernel takes images as a GPU's
// convolutions give them, channels innermost, and what follows element by element.
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
