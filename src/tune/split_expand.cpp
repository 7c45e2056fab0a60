// The two convolutions that passes/fuse_expand_depthwise made one, against the two of them.
#include "tune/cuts.h"

namespace tenfold::tune {
namespace {

constexpr std::int64_t kSecondCache = 1 << 20;

ir::Node* expansion_of(ir::Graph& graph, ir::Node& node) {
  ir::Node first;
  first.def = &graph.registry().get("Conv"), first.name = node.name + "_expansion", first.numerics = node.numerics;
  first.sources.own = node.sources.own;
  first.attributes.set("kernel_shape", ir::Ints{1, 1});
  first.inputs = {node.in(0), node.in(1), node.in(2)};
  first.anchor_inputs = 2;
  const DType type = node.in(0)->dtype();
  ir::BodyBuilder b({type, type});
  std::uint16_t sum = b.binary(ir::Prim::add, 0, 1);
  if (node.attributes.has("low")) sum = b.binary(ir::Prim::max, sum, b.constant(type, node.attributes.number("low")));
  if (node.attributes.has("high")) sum = b.binary(ir::Prim::min, sum, b.constant(type, node.attributes.number("high")));
  first.body = b.finish({sum});
  return graph.add(std::move(first), 1, &node);
}

ir::Node* depthwise_of(ir::Graph& graph, ir::Node& node, ir::Value* expanded) {
  ir::Node second;
  second.def = &graph.registry().get("Conv"), second.name = node.name, second.numerics = node.numerics;
  second.sources.own = node.sources.behind;
  second.attributes = node.attributes, second.body = node.body;
  second.attributes.erase("low"), second.attributes.erase("high");
  second.attributes.set("group", node.in(3)->dims()[0].constant());
  second.inputs = {expanded, node.in(3)};
  second.inputs.insert(second.inputs.end(), node.inputs.begin() + 4, node.inputs.end());
  if (node.body) second.anchor_inputs = 2;
  return graph.add(std::move(second), 1, &node);
}

}  // namespace

bool split_expand_if_better(ir::Graph& graph, ir::Node& node, Candidates& candidates) {
  if (node.op() != "ExpandDepthwise") return false;
  const std::int64_t together = best(candidates.of(node));
  ir::Node* first = expansion_of(graph, node);
  ir::Node* second = depthwise_of(graph, node, first->out());
  const std::int64_t apart = best(candidates.of(*first)) + best(candidates.of(*second));
  // Each is timed with warm operands, which what lies between them is not once it is larger than the second cache.
  const ir::Dim between = ir::product(first->out()->dims()) * (bits(first->out()->dtype()) / 8);
  const bool large = !between.is_constant() || between.constant() > kSecondCache;
  if (large ? !clearly_better(apart, together) : apart >= together) {
    graph.erase(*second);
    graph.erase(*first);
    return false;
  }
  graph.replace_uses(node.outputs[0], second->out());
  graph.erase(node);
  return true;
}

}  // namespace tenfold::tune
