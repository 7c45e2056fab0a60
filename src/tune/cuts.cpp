// The cut of one fused node, weighed by the candidates of its pieces.
#include "tune/cuts.h"

#include <algorithm>
#include <limits>

namespace tenfold::tune {

std::int64_t best(const std::vector<Candidate>& candidates) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Candidate& c : candidates) least = std::min(least, c.nanoseconds);
  return least;
}

namespace {

// Who computes what the fused node stood for; where that was not noted, both tell all of it.
void tell_sources(ir::Node& anchor, ir::Node& region, const ir::Sources& fused) {
  const bool apart = !fused.own.empty() && !fused.behind.empty();
  anchor.sources.own = apart ? fused.own : fused.all();
  region.sources.own = apart ? fused.behind : fused.all();
}

// The anchor alone, and the epilogue as a region that reads its result.
std::pair<ir::Node*, ir::Node*> split(ir::Graph& graph, ir::Node& node) {
  ir::Node anchor;
  anchor.def = node.def, anchor.attributes = node.attributes, anchor.numerics = node.numerics, anchor.name = node.name + "_anchor";
  anchor.inputs.assign(node.inputs.begin(), node.inputs.begin() + node.anchor_inputs);
  ir::Node* first = graph.add(std::move(anchor), static_cast<int>(node.outputs.size()), &node);
  ir::Node region;
  region.def = &graph.registry().get("Region"), region.name = node.name + "_epilogue";
  region.inputs.push_back(first->outputs[0]);
  region.inputs.insert(region.inputs.end(), node.inputs.begin() + node.anchor_inputs, node.inputs.end());
  region.body = node.body;
  tell_sources(*first, region, node.sources);
  return {first, graph.add(std::move(region), 1, &node)};
}

}  // namespace

bool cut_if_better(ir::Graph& graph, ir::Node& node, Candidates& candidates) {
  if (!node.body || node.def->traits.region) return false;
  const std::vector<Candidate>& together = candidates.of(node);
  const bool runs = std::any_of(together.begin(), together.end(), [](const Candidate& c) { return c.choice.tactic != nullptr; });
  auto [anchor, region] = split(graph, node);
  const std::int64_t after = best(candidates.of(*region));
  if (runs && !candidates.may_reach(*anchor, node, largest_apart(best(together)) - after)) {
    graph.erase(*region);
    graph.erase(*anchor);
    return false;
  }
  std::int64_t apart = best(candidates.of(*anchor)) + after;
  // Integer sums are four times as wide as the bytes they end in: in a busy cache a cut costs more than its timing says.
  if (anchor->outputs[0]->dtype() == DType::i32) apart += apart / 2;
  if (runs && !clearly_better(apart, best(together))) {
    graph.erase(*region);
    graph.erase(*anchor);
    return false;
  }
  graph.replace_uses(node.outputs[0], region->outputs[0]);
  graph.erase(node);
  return true;
}

}  // namespace tenfold::tune
