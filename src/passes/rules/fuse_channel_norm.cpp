// fuse_channel_norm: beside convolutions, norms of channels in 16 bits become ChannelNorm, whose kernel takes images as a GPU's
// convolutions give them, channels innermost, and what follows element by element.
//
// before: (x f16[2,8,6,6], k f16[16,8,3,3]!, w f16[16]!, b f16[16]!)
//   c = Conv(x, k) kernel_shape=[3,3]
//   y = GroupNormalization(c, w, b) num_groups=4
// after: (x f16[2,8,6,6], k f16[16,8,3,3]!, w f16[16]!, b f16[16]!)
//   c = Conv(x, k) kernel_shape=[3,3]
//   y = ChannelNorm(c, w, b) num_groups=4
//
// kept: (x f16[2,16,6,6], w f16[16]!, b f16[16]!)
//   y = GroupNormalization(x, w, b) num_groups=4
#include "passes/channel_norms.h"
#include "passes/pass.h"

namespace tenfold::passes {

Pass pass_fuse_channel_norm() {
  return {.name = "fuse_channel_norm", .run = [](ir::Graph& graph) { return fuse_channel_norms(graph, {DType::f16, DType::bf16}); }};
}

}  // namespace tenfold::passes
