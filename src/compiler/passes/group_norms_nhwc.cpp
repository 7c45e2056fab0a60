#include "passes/group_norms_nhwc.h"

#include <algorithm>

#include "backends/problems/group_norm_nhwc_problem.h"
#include "passes/match.h"

namespace tenfold::passes {
namespace {

using ir::Node;

bool suits(const Node& n, std::initializer_list<DType> types) {
  if ((n.op() != "GroupNormalization" && n.op() != "InstanceNormalization") || n.body || n.outputs.size() != 1) return false;
  const ir::Value* x = n.in(0);
  if (std::find(types.begin(), types.end(), x->dtype()) == types.end() || x->rank() < 3 || x->rank() > 5) return false;
  const ir::Dim channels = x->dims()[1];
  if (!channels.is_constant() || channels.constant() % backends::kNormChannelVector != 0 ||
      channels.constant() > backends::kMaxNormChannels)
    return false;
  for (int i = 1; i < 3; ++i)
    if (n.in(i)->dims() != ir::Dims{channels} || n.in(i)->dtype() != x->dtype()) return false;
  return true;
}

}  // namespace

bool fuse_group_norms_nhwc(ir::Graph& graph, std::initializer_list<DType> types) {
  const auto convolves = [](const auto& n) { return n->op() == "Conv" || n->op() == "ConvTranspose"; };
  if (std::none_of(graph.nodes().begin(), graph.nodes().end(), convolves)) return false;
  bool changed = false;
  for (Node* n : graph.node_list()) {
    if (!suits(*n, types)) continue;
    const std::int64_t groups = n->op() == "GroupNormalization" ? n->attributes.integer("num_groups") : n->in(0)->dims()[1].constant();
    const ir::Attributes attributes{{"epsilon", n->attributes.number("epsilon", 1e-5f)}, {"num_groups", groups}};
    graph.replace_uses(n->out(), graph.make("GroupNormNhwc", n->inputs, attributes, n));
    changed = true;
  }
  return changed;
}

}  // namespace tenfold::passes
