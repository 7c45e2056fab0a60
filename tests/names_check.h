// Do a rewritten graph's names hold? Held against the model itself: what its structure says lies between two values, and its numbers.
#pragma once

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "ir/lineage.h"
#include "ops/interpret.h"

namespace tenfold::tests {

using NodeSet = std::set<std::int32_t>;
using TensorSet = std::set<std::int32_t>;

// What the nodes of a graph stand for, with those of their bodies.
inline void add_sources(const ir::Graph& graph, NodeSet& all) {
  for (const auto& n : graph.nodes()) {
    for (const std::int32_t s : n->sources.all()) all.insert(s);
    for (const auto& body : n->graphs) add_sources(*body, all);
  }
}

// The model's nodes and tensors by number, from the graph as it was before any rule.
class Model {
 public:
  explicit Model(const ir::Graph& graph) : table(*graph.model_names) {
    for (const auto& n : graph.nodes()) {
      for (const ir::Value* v : n->outputs) maker_[v->names.at(0)] = n.get();
      for (const auto& body : n->graphs) add_sources(*body, inside_[n->sources.own.at(0)]);
    }
    for (const ir::Value* v : graph.inputs) inputs_.insert(v->names.at(0));
  }
  // The nodes between these tensors. False: an input of the model is reached that is not among `from`.
  bool between(const TensorSet& from, const TensorSet& to, NodeSet& nodes) const {
    bool closed = true;
    std::vector<std::int32_t> open(to.begin(), to.end());
    TensorSet seen;
    while (!open.empty()) {
      const std::int32_t t = open.back();
      open.pop_back();
      if (from.count(t) || !seen.insert(t).second) continue;
      closed = closed && !inputs_.count(t);
      const auto made = maker_.find(t);
      if (made == maker_.end()) continue;
      nodes.insert(made->second->sources.own.at(0));
      for (const ir::Value* v : made->second->inputs)
        if (v) open.push_back(v->names.at(0));
    }
    return closed;
  }
  // The same with the nodes of their bodies, which what becomes of a branch or a loop may stand for.
  NodeSet with_bodies(NodeSet nodes) const {
    for (const auto& [owner, inside] : inside_)
      if (nodes.count(owner)) nodes.insert(inside.begin(), inside.end());
    return nodes;
  }
  const ir::Node* node(std::int32_t number) const {
    for (const auto& [tensor, n] : maker_)
      if (n->sources.own.at(0) == number) return n;
    return nullptr;
  }
  std::string text(const NodeSet& nodes) const {
    std::string all;
    for (const std::int32_t n : nodes) all += (all.empty() ? "" : ", ") + table.nodes.at(static_cast<std::size_t>(n)).name;
    return "{" + all + "}";
  }
  const ir::NameTable& table;

 private:
  std::map<std::int32_t, const ir::Node*> maker_;
  std::map<std::int32_t, NodeSet> inside_;
  TensorSet inputs_;
};

struct NameCounts {
  std::string fault;                 // empty: none
  int nodes = 0, exact = 0, values = 0;   // nodes that stand for something; of these, held to be exactly right; values compared
};

inline NodeSet removed_of(const ir::Graph& graph) {
  NodeSet removed;
  for (const ir::Removed& r : graph.removed) removed.insert(r.node);
  return removed;
}

// Each node of the model is in a node of the graph or was removed, never both.
inline std::string lost_names(const Model& model, const ir::Graph& graph) {
  const NodeSet removed = removed_of(graph);
  NodeSet alive;
  add_sources(graph, alive);
  std::string fault;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(model.table.nodes.size()); ++i)
    if (alive.count(i) == removed.count(i))
      fault += cat("'", model.table.nodes[static_cast<std::size_t>(i)].name, "' is ", alive.count(i) ? "computed and removed; " : "lost; ");
  if (removed.size() != graph.removed.size()) fault += "a node was removed twice; ";
  return fault;
}

// What computes something cannot be gone: only what nobody reads, what constants decide, what changes nothing (its result and one of its
// operands are one value now, of which nothing is left to see once `later` passes ran), and what moves or rounds elements.
inline std::string wrongly_removed(const Model& model, const ir::Graph& graph, bool later) {
  static const std::set<std::string, std::less<>> kNoArithmetic = {"Identity", "Cast", "QuantizeLinear", "DequantizeLinear"};
  std::string fault;
  for (const ir::Removed& r : graph.removed) {
    const ir::Node* n = model.node(r.node);
    if (!n || n->def->traits.movement != ir::Movement::none || kNoArithmetic.count(n->op()) || r.by == "unused" ||
        r.by == "fold_constants" || (later && r.by == "remove_identity"))
      continue;
    bool same = false;
    for (const auto& v : graph.values())
      for (const ir::Value* in : n->inputs)
        same = same || (in && std::count(v->names.begin(), v->names.end(), in->names.at(0)) > 0 &&
                        std::count(v->names.begin(), v->names.end(), n->out()->names.at(0)) > 0);
    NodeSet above;
    const bool constant = model.between({}, {n->out()->names.at(0)}, above);
    if (!same && !constant) fault += cat("'", n->name, "' (", n->op(), ") is said to be removed by ", r.by, "; ");
  }
  return fault;
}

// Where a node's operands and results are the model's, it stands for what lies between them there; what it computes again although another
// node does, it need not tell.
inline std::string wrong_sources(const Model& model, const ir::Graph& graph, NameCounts& found) {
  const NodeSet removed = removed_of(graph);
  std::string fault;
  for (const auto& n : graph.nodes()) {
    const ir::NameList list = n->sources.all();
    const NodeSet reported(list.begin(), list.end());
    TensorSet from, to;
    bool known = true;
    for (const ir::Value* v : n->inputs)
      if (v) from.insert(v->names.begin(), v->names.end()), known = known && (v->is_constant() || !v->names.empty());
    for (const ir::Value* v : n->outputs) {
      to.insert(v->names.begin(), v->names.end());
      known = known && (!v->names.empty() || (v->users.empty() && !graph.is_output(v)));
    }
    found.nodes += !reported.empty();
    NodeSet expected;
    if (to.empty() || !model.between(from, to, expected)) continue;
    for (const std::int32_t r : removed) expected.erase(r);
    const auto elsewhere = [&](std::int32_t source) {
      return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const auto& other) {
        const ir::NameList all = other->sources.all();
        return other != n && std::count(all.begin(), all.end(), source) > 0;
      });
    };
    const NodeSet allowed = model.with_bodies(expected);
    bool right = std::includes(allowed.begin(), allowed.end(), reported.begin(), reported.end());
    for (const std::int32_t source : expected) right = right && (!known || reported.count(source) || elsewhere(source));
    found.exact += known && !reported.empty();
    if (!right)
      fault += cat("'", n->name, "' (", n->op(), ") stands for ", model.text(reported), ", between its values lies ", model.text(expected),
                   "; ");
  }
  return fault;
}

using Tensors = std::map<std::int32_t, Tensor>;   // the model's, by number

// Every value of a run under the names that the graph gives it.
inline Tensors named_values(const ir::Graph& graph, const std::vector<Tensor>& inputs) {
  Tensors tensors;
  ops::run_graph(graph, {inputs.begin(), inputs.end()}, [&](const ir::Value& v, const ops::RuntimeValue& value) {
    if (const Tensor* t = std::get_if<Tensor>(&value))
      for (const std::int32_t name : v.names) tensors.insert_or_assign(name, t->clone());
  });
  return tensors;
}

// In parts of the largest element.
inline std::string differs(const std::string& name, const Tensor& reference, const Tensor& got, double tolerance) {
  if (reference.shape() != got.shape())
    return cat("'", name, "' has the shape [", text(got.shape()), "], the model's is [", text(reference.shape()), "]; ");
  double largest = 0.05, difference = 0;   // sums that cancel leave what rounding left of their terms
  for (std::int64_t i = 0; i < reference.size(); ++i) {
    const double a = reference.as_double(i), b = got.as_double(i);
    if (std::isfinite(a)) largest = std::max(largest, std::abs(a));
    if (a != b && !(std::isnan(a) && std::isnan(b))) difference = std::max(difference, std::abs(a - b));
  }
  return difference <= tolerance * largest ? "" : cat("'", name, "' is off by ", difference, " of ", largest, "; ");
}

// `original` with its names started, and what rules made of it.
inline NameCounts check_names(const ir::Graph& original, const ir::Graph& graph, const std::vector<Tensor>& inputs, double tolerance,
                              bool later) {
  const Model model(original);
  NameCounts found;
  found.fault = lost_names(model, graph) + wrongly_removed(model, graph, later) + wrong_sources(model, graph, found);
  const Tensors reference = named_values(original, inputs);
  for (const auto& [number, got] : named_values(graph, inputs)) {
    const auto known = reference.find(number);
    if (known == reference.end() || known->second.dtype() == DType::string) continue;
    const double allowed = got.dtype() == DType::bf16 || got.dtype() == DType::f16 ? std::max(tolerance, 8e-3) : tolerance;
    found.fault += differs(model.table.tensors.at(static_cast<std::size_t>(number)), known->second, got, allowed);
    ++found.values;
  }
  return found;
}

}  // namespace tenfold::tests
