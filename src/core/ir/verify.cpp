// What must hold of every graph between passes.
#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

void verify_node(const Graph& graph, const Node& node, const std::unordered_set<const Value*>& known) {
  check(node.def != nullptr, "node '", node.name, "' has no operator");
  for (const Value* v : node.inputs) {
    if (!v) continue;
    check(known.count(v), "node '", node.name, "' uses '", v->name, "' before it is made");
  }
  for (const Value* v : node.outputs) check(v->producer == &node, "result '", v->name, "' does not know its node");
  if (node.body) {
    verify(*node.body);
    const std::size_t own = node.def->traits.region ? 0 : static_cast<std::size_t>(std::max(node.anchor_inputs, 0));
    const std::size_t feeds = node.inputs.size() - own + (node.def->traits.region ? 0 : 1);
    check(node.body->inputs.size() == feeds, "the body of '", node.name, "' has ", node.body->inputs.size(), " inputs, ", feeds,
          " are given");
  }
  (void)graph;
}

}  // namespace

namespace {
// Every use is recorded as often as it occurs. A value may have thousands of users and a node thousands of operands, so both sides are
// listed and sorted.
void verify_users(const Graph& graph) {
  using Use = std::pair<const Value*, const Node*>;
  std::vector<Use> made, recorded;
  std::unordered_set<const Value*> seen;
  for (const auto& n : graph.nodes())
    for (const Value* v : n->inputs) {
      if (!v) continue;
      made.emplace_back(v, n.get());
      if (!seen.insert(v).second) continue;
      for (const Node* user : v->users) recorded.emplace_back(v, user);
    }
  std::sort(made.begin(), made.end());
  std::sort(recorded.begin(), recorded.end());
  const auto [a, b] = std::mismatch(made.begin(), made.end(), recorded.begin(), recorded.end());
  if (a == made.end() && b == recorded.end()) return;
  const Value* v = b == recorded.end() || (a != made.end() && *a < *b) ? a->first : b->first;
  check(false, "uses of '", v->name, "' are not recorded as they are");
}
}  // namespace

void verify(const Graph& graph) {
  std::unordered_set<const Value*> known(graph.inputs.begin(), graph.inputs.end());
  for (const auto& v : graph.values())
    if (v->is_constant()) known.insert(v.get());
  for (const auto& n : graph.nodes()) {
    try {
      verify_node(graph, *n, known);
      for (const auto& g : n->graphs) verify(*g);
    } catch (Error& e) {
      throw e.within("node '" + n->name + "' (" + n->op() + ")");
    }
    for (const Value* v : n->outputs) check(known.insert(v).second, "'", v->name, "' is made twice");
  }
  verify_users(graph);
  std::unordered_set<std::string> names;
  for (const Value* v : graph.inputs) check(names.insert(v->name).second, "two inputs are named '", v->name, "'");
  for (const Value* v : graph.outputs) check(known.count(v), "output '", v->name, "' is never made");
}

}  // namespace tenfold::ir
