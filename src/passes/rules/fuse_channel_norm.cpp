// fuse_channel_norm: beside convolutions, norms of channels in 16 bits become ChannelNorm, whose kernel takes images as a GPU's convolutions
// give them, channels innermost, and what follows element by element.
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
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;

constexpr std::int64_t kVector = 8, kMostChannels = 2048;   // 16 bytes; and what the kernel's shared memory holds

bool suits(const Node& n) {
  const bool grouped = n.op() == "GroupNormalization";
  if ((!grouped && n.op() != "InstanceNormalization") || n.body || n.outputs.size() != 1) return false;
  const ir::Value* x = n.in(0);
  if ((x->dtype() != DType::f16 && x->dtype() != DType::bf16) || x->rank() < 3 || x->rank() > 5) return false;
  const ir::Dim channels = x->dims()[1];
  if (!channels.is_constant() || channels.constant() % kVector != 0 || channels.constant() > kMostChannels) return false;
  for (int i = 1; i < 3; ++i)
    if (n.in(i)->dims() != ir::Dims{channels} || n.in(i)->dtype() != x->dtype()) return false;
  return true;
}

bool try_fuse(ir::Graph& graph, Node& n) {
  if (!suits(n)) return false;
  const std::int64_t groups = n.op() == "GroupNormalization" ? n.attributes.integer("num_groups") : n.in(0)->dims()[1].constant();
  const ir::Attributes attributes{{"epsilon", n.attributes.number("epsilon", 1e-5f)}, {"num_groups", groups}};
  graph.replace_uses(n.out(), graph.make("ChannelNorm", n.inputs, attributes, &n));
  return true;
}

bool run(ir::Graph& graph) {
  for (const auto& n : graph.nodes())
    if (n->op() == "Conv" || n->op() == "ConvTranspose") return try_each(graph, try_fuse);
  return false;
}

}  // namespace

Pass pass_fuse_channel_norm() { return {.name = "fuse_channel_norm", .run = run}; }

}  // namespace tenfold::passes
