#include "passes/widening.h"

#include <algorithm>
#include <map>

#include "ir/op_def.h"

namespace tenfold::passes {
namespace {

using ir::Node;
using ir::Value;

class Widening {
 public:
  Widening(ir::Graph& graph, std::initializer_list<DType> types, bool (*stays)(const Node&))
      : graph_(graph), types_(types), stays_(stays) {}

  bool run() {
    bool changed = false;
    for (Node* n : graph_.node_list()) changed = widen(*n) || changed;
    return changed;
  }

 private:
  bool is_narrow(const Value* v) const {
    return v && v->type.kind == ir::ValueType::Kind::tensor && std::find(types_.begin(), types_.end(), v->dtype()) != types_.end();
  }

  bool may(const Node& n) const {
    if (!n.graphs.empty() || n.body || !n.def->pure || n.def->self || !n.def->types.declared()) return false;
    if (n.op() == "Cast" || n.op() == "CastLike" || n.op() == "BitCast" || (stays_ && stays_(n))) return false;
    if (n.def->decompose && !n.def->traits.narrows) return false;  // made by a rule, for the types that it has
    bool narrow = false, was_wide = false;
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
      if (!is_narrow(n.inputs[i])) continue;
      const ir::OpTypes::Slot* slot = n.def->types.operand(static_cast<int>(i));
      if (!slot || slot->free || !slot->types.has(DType::f32)) return false;
      narrow = true, was_wide = was_wide || wide_.count(n.inputs[i]) != 0;
    }
    return narrow && (was_wide || n.def->traits.movement == ir::Movement::none);
  }

  Value* wide(Value* v, Node& before) {
    Value*& known = wide_[v];
    if (!known) known = graph_.make("Cast", {v}, {{"to", "f32"}}, &before);
    return known;
  }

  bool widen(Node& n) {
    if (!may(n)) return false;
    std::vector<Value*> inputs = n.inputs;
    for (Value*& v : inputs)
      if (is_narrow(v)) v = wide(v, n);
    Node* const widened = add_again(n, std::move(inputs));
    for (std::size_t i = 0; i < n.outputs.size(); ++i) {
      Value* now = widened->outputs[i];
      if (is_narrow(n.outputs[i]) && now->dtype() == DType::f32) {
        Value* const rounded = graph_.make("Cast", {now}, {{"to", std::string(name(n.outputs[i]->dtype()))}}, &n);
        wide_[rounded] = now;
        now = rounded;
      }
      graph_.replace_uses(n.outputs[i], now);
    }
    graph_.erase(n);
    return true;
  }
  Node* add_again(Node& n, std::vector<Value*> inputs) {
    Node copy;
    copy.def = n.def, copy.name = n.name, copy.attributes = n.attributes, copy.numerics = n.numerics, copy.sources = n.sources;
    copy.inputs = std::move(inputs);
    return graph_.add(std::move(copy), static_cast<int>(n.outputs.size()), &n);
  }

  ir::Graph& graph_;
  std::vector<DType> types_;
  bool (*stays_)(const Node&);
  std::map<const Value*, Value*> wide_;   // what is rounded to, or was read from, a value of 16 bits
};

}  // namespace

bool widen(ir::Graph& graph, std::initializer_list<DType> types, bool (*stays)(const Node&)) { return Widening(graph, types, stays).run(); }

}  // namespace tenfold::passes
