// lower_group_norm_nhwc: GroupNormNhwc becomes the GroupNormalization that it stands for again, and its epilogue a Region: the second
// form of such graphs, whose norms are rows of NCHW tensors (lower_group_norm).
//
// before: (x f16[2,16,6,6], w f16[16], b f16[16])
//   y = GroupNormNhwc(x, w, b) anchor_inputs=3 num_groups=4 body={(f16) %1=neg.f16(%0) -> %1}
// after: (x f16[2,16,6,6], w f16[16], b f16[16])
//   n = GroupNormalization(x, w, b) num_groups=4
//   y = Region(n) body={(f16) %1=neg.f16(%0) -> %1}
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Node;

bool try_lower(ir::Graph& graph, Node& n) {
  if (n.op() != "GroupNormNhwc") return false;
  const ir::Attributes attributes{{"epsilon", n.attributes.number("epsilon")}, {"num_groups", n.attributes.integer("num_groups")}};
  ir::Value* last = graph.make("GroupNormalization", {n.in(0), n.in(1), n.in(2)}, attributes, &n);
  if (n.body) {
    Node region;
    region.def = &graph.registry().get("Region"), region.name = n.name + "_epilogue", region.body = n.body;
    region.inputs = {last};
    region.inputs.insert(region.inputs.end(), n.inputs.begin() + n.anchor_inputs, n.inputs.end());
    last = graph.add(std::move(region), 1, &n)->out();
  }
  graph.replace_uses(n.out(), last);
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, try_lower); }

}  // namespace

Pass pass_lower_group_norm_nhwc() { return {.name = "lower_group_norm_nhwc", .run = run}; }

}  // namespace tenfold::passes
