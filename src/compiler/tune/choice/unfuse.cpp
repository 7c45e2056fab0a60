// The cuts of one fused node, an epilogue off its anchor or an operator into its decomposition, autotuned by the candidates of the pieces.
#include "tune/choice/unfuse.h"

#include <algorithm>
#include <limits>

#include "backends/device_traits.h"
#include "tune/choice/choice.h"

namespace tenfold::tune {

std::int64_t best(const std::vector<Candidate>& candidates) {
  std::int64_t min = std::numeric_limits<std::int64_t>::max();
  for (const Candidate& c : candidates) min = std::min(min, c.nanoseconds);
  return min;
}

namespace {

// Who computes what the fused node stood for; where that was not noted, both tell all of it.
void set_sources(ir::Node& anchor, ir::Node& region, const ir::Sources& fused) {
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
  set_sources(*first, region, node.sources);
  return {first, graph.add(std::move(region), 1, &node)};
}

}  // namespace

bool unfuse_if_better(ir::Graph& graph, ir::Node& node, Candidates& candidates) {
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
  for (std::size_t i = 1; i < node.outputs.size(); ++i) graph.replace_uses(node.outputs[i], anchor->outputs[i]);
  graph.erase(node);
  return true;
}

namespace {

// The nodes in front of `node` that came after the one with this number, in order.
std::vector<ir::Node*> made_after(const ir::Graph& graph, const ir::Node& node, std::uint32_t last) {
  std::vector<ir::Node*> made;
  for (auto at = node.self; at != graph.nodes().begin() && (*std::prev(at))->id > last; --at) made.push_back(std::prev(at)->get());
  std::reverse(made.begin(), made.end());
  return made;
}

// On a CPU. Each part is timed with warm operands, which what lies between them is not once it is larger than the second cache.
bool passes_much_on(const std::vector<ir::Node*>& parts, const std::vector<ir::Value*>& results) {
  constexpr std::int64_t kSecondCache = 1 << 20;
  return std::any_of(parts.begin(), parts.end(), [&](const ir::Node* part) {
    return std::any_of(part->outputs.begin(), part->outputs.end(), [&](const ir::Value* v) {
      const ir::Dim bytes = ir::product(v->dims()) * (bits(v->dtype()) / 8);
      return std::find(results.begin(), results.end(), v) == results.end() && (!bytes.is_constant() || bytes.constant() > kSecondCache);
    });
  });
}

}  // namespace

bool decompose_if_better(ir::Graph& graph, ir::Node& node, Candidates& candidates) {
  if (!node.def->traits.autotuned) return false;
  const std::int64_t together = best(candidates.of(node));
  const std::uint32_t last = graph.last_node();
  const std::vector<ir::Value*> results = node.def->decompose(graph, node);
  const std::vector<ir::Node*> parts = made_after(graph, node, last);
  std::int64_t apart = 0;
  for (const ir::Node* part : parts)
    if (!is_view(*part)) apart += best(candidates.of(*part));
  const bool must_be_clear = backends::traits_of(candidates.device()).host_arithmetic && passes_much_on(parts, results);
  if (must_be_clear ? !clearly_better(apart, together) : apart >= together) {
    std::for_each(parts.rbegin(), parts.rend(), [&](ir::Node* part) { graph.erase(*part); });
    return false;
  }
  for (ir::Node* part : parts) part->sources.own = part == parts.front() ? node.sources.own : node.sources.behind;
  for (std::size_t i = results.size(); i-- > 0;) graph.replace_uses(node.outputs[i], results[i]);
  graph.erase(node);
  return true;
}

}  // namespace tenfold::tune
