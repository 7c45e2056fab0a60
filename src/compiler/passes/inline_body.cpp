#include "passes/inline_body.h"

#include <algorithm>

#include "base/check.h"
#include "ir/infer_named.h"

namespace tenfold::passes {

using ir::Node;
using ir::Value;

std::vector<Value*> InlinedBody::add(const std::vector<Value*>& operands, bool names) {
  check(operands.size() == body_.inputs.size(), "a body of ", body_.inputs.size(), " inputs is given ", operands.size());
  std::unordered_map<const Value*, Value*> here;
  for (std::size_t i = 0; i < operands.size(); ++i) here[body_.inputs[i]] = operands[i];
  const auto mapped = [&](const Value* v) -> Value* {
    if (!v) return nullptr;
    if (const auto found = here.find(v); found != here.end()) return found->second;
    Value*& constant = constants_[v];
    if (!constant) constant = graph_.add_constant(v->constant, v->name), constant->names = v->names;
    return constant;
  };
  for (const auto& node : body_.nodes()) {
    Node copy;
    copy.def = node->def, copy.name = node->name, copy.attributes = node->attributes, copy.numerics = node->numerics;
    copy.body = node->body, copy.anchor_inputs = node->anchor_inputs, copy.sources = node->sources;
    for (const Value* v : node->inputs) copy.inputs.push_back(mapped(v));
    for (const auto& g : node->graphs) copy.graphs.push_back(std::make_unique<ir::Graph>(g->clone()));
    const Node* added = graph_.add(std::move(copy), static_cast<int>(node->outputs.size()), &owner_);
    for (std::size_t o = 0; o < node->outputs.size(); ++o) {
      here[node->outputs[o]] = added->outputs[o];
      if (names) added->outputs[o]->names = node->outputs[o]->names;
    }
  }
  std::vector<Value*> results;
  for (const Value* v : body_.outputs) results.push_back(mapped(v));
  return results;
}

bool can_be_inlined(const ir::Graph& body) {
  const auto tensor = [](const auto& v) {
    return v->type.kind == ir::ValueType::Kind::tensor && v->type.ranked && v->dtype() != DType::string;
  };
  return std::all_of(body.values().begin(), body.values().end(), tensor) &&
         std::all_of(body.nodes().begin(), body.nodes().end(), [](const auto& n) {
           return n->op() != "Fail" && std::all_of(n->graphs.begin(), n->graphs.end(), [](const auto& g) { return can_be_inlined(*g); });
         });
}

std::size_t count_nodes(const ir::Graph& graph) {
  std::size_t count = graph.nodes().size();
  for (const auto& n : graph.nodes())
    for (const auto& g : n->graphs) count += count_nodes(*g);
  return count;
}

void replace_results(ir::Graph& graph, Node& node, const std::vector<Value*>& results) {
  for (std::size_t i = 0; i < node.outputs.size(); ++i) graph.replace_uses(node.outputs[i], results.at(i));
  bool behind = false;
  for (Node* n : graph.node_list()) {
    if (behind) ir::infer_named(graph, *n);
    behind = behind || n == &node;
  }
}

}  // namespace tenfold::passes
