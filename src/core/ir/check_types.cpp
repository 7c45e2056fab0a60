// Every node inferred again, from the types that its operands have.
#include "ir/check_types.h"

#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "ir/infer_named.h"
#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

using Names = std::unordered_set<std::string>;

// Inference makes symbols for sizes that only the run knows; those it made anew stand for any extent.
bool agrees(Dim stored, Dim inferred, const Names& known) {
  const std::vector<std::string> symbols = inferred.symbols();
  return stored == inferred || std::any_of(symbols.begin(), symbols.end(), [&](const std::string& s) { return !known.count(s); });
}
bool agrees(const ValueType& stored, const ValueType& inferred, const Names& known) {
  if (stored.without_dims() != inferred.without_dims() || stored.ranked != inferred.ranked) return false;
  const Dims &a = stored.tensor.dims, &b = inferred.tensor.dims;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](Dim x, Dim y) { return agrees(x, y, known); });
}

void check_node(Graph& graph, Node& node, const Names& known) {
  std::vector<std::pair<ValueType, std::optional<Dims>>> stored;
  for (const Value* v : node.outputs) stored.emplace_back(v->type, v->contents);
  infer_named(graph, node);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    Value& v = *node.outputs[i];
    check(agrees(stored[i].first, v.type, known), "node '", node.name, "' (", node.op(), "): '", v.name, "' is ", text(stored[i].first),
          ", inferred from its operands ", text(v.type));
    v.type = std::move(stored[i].first), v.contents = std::move(stored[i].second);   // what follows is judged by what is stored
  }
}

void check_copy(Graph& graph) {
  Names known;
  for (const Symbol& s : graph.symbols) known.insert(s.name);
  for (const auto& node : graph.nodes()) {
    for (const auto& body : node->graphs) check_copy(*body);
    check_node(graph, *node, known);
  }
}

}  // namespace

void check_types(const Graph& graph) {
  Graph copy = graph.clone();
  check_copy(copy);
}

bool may_be_the_same(const ValueType& a, const ValueType& b) {
  if (a.kind != b.kind) return false;
  if (!a.is_tensor() || !a.ranked || !b.ranked) return true;
  const Dims &x = a.tensor.dims, &y = b.tensor.dims;
  return a.tensor.dtype == b.tensor.dtype && std::equal(x.begin(), x.end(), y.begin(), y.end(), [](Dim one, Dim other) {
    return one == other || !one.is_constant() || !other.is_constant();
  });
}

void check_same_type(const Value& value, const ValueType& by) {
  if (may_be_the_same(value.type, by)) return;
  const Node* n = value.producer;
  check(false, n ? cat("node '", n->name, "' (", n->op(), "): ") : std::string(), "'", value.name, "' is ", text(value.type),
        ", what is put in its place is ", text(by));
}

}  // namespace tenfold::ir
