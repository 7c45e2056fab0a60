// merge_common: nodes that compute the same thing from the same operands become one; so do equal small constants.
//
// before: (x f32[2,3])
//   a = Exp(x)
//   b = Exp(x)
//   y = Add(a, b)
// after: (x f32[2,3])
//   a = Exp(x)
//   y = Add(a, a)
#include <map>

#include "base/check.h"
#include "ir/recipe.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

std::string key_of(const ir::Node& n) {
  std::string key = n.op();
  for (const ir::Value* v : n.inputs) key += cat(' ', static_cast<const void*>(v));
  ir::Attributes attributes = n.attributes;
  if (const auto axes = reduced_axes(n)) attributes.set("axes", *axes);   // counted from either end
  key += " " + ir::text(attributes) + ir::numerics_words(n.numerics) + cat(' ', n.outputs.size());
  if (n.body) key += " " + ir::text(*n.body) + cat(' ', n.anchor_inputs);
  return key;
}

bool merge_constants(ir::Graph& graph) {
  std::map<std::string, ir::Value*> seen;
  bool changed = false;
  for (const auto& v : graph.values()) {
    if (!v->is_constant() || v->users.empty() || v->constant->tensor.size() > 64 || !v->constant->weight_name.empty()) continue;
    if (ir::may_change(*v->constant)) continue;   // equal now, but not after a refit
    auto [it, fresh] = seen.try_emplace(ir::text(ir::Attribute(v->constant->tensor)), v.get());
    if (fresh) continue;
    graph.replace_uses(v.get(), it->second);
    changed = true;
  }
  return changed;
}

bool run(ir::Graph& graph) {
  bool changed = merge_constants(graph);
  std::map<std::string, ir::Node*> seen;   // keys hold addresses, but only equality of keys matters: the first node in order stays
  for (ir::Node* n : graph.node_list()) {
    if (!n->def->pure || !n->graphs.empty() || n->inputs.empty()) continue;
    auto [it, fresh] = seen.try_emplace(key_of(*n), n);
    if (fresh) continue;
    bool output = false;
    for (ir::Value* v : n->outputs) output = output || graph.is_output(v);
    if (output) continue;   // its name must stay
    for (std::size_t i = 0; i < n->outputs.size(); ++i) graph.replace_uses(n->outputs[i], it->second->outputs[i]);
    changed = true;
  }
  return changed;
}

}  // namespace

Pass pass_merge_common() { return {.name = "merge_common", .run = run}; }

}  // namespace tenfold::passes
