// From a node to the problem that tactics are asked about.
#include "tune/choice/node_problem.h"

#include <algorithm>
#include <set>

#include "ir/shape_operand.h"
#include "tune/choice/choice.h"

namespace tenfold::tune {

// Only where both shapes provably hold as many elements: a Squeeze of a dim that the run may find to be 3 has to say so, as a step.
bool is_view(const ir::Node& n) {
  const ir::Movement moves = n.def->traits.movement;
  return !n.body && n.outputs.size() == 1 && (moves == ir::Movement::reshape || moves == ir::Movement::identity) && n.in(0) &&
         !touches_objects(n) && !sizes_depend_on_data(n) &&
         ir::product(n.in(0)->dims()) == ir::product(n.out()->dims());
}
bool is_control_flow(const ir::Node& n) { return !n.graphs.empty(); }

bool touches_objects(const ir::Node& n) {
  const auto object = [](const ir::Value* v) { return v && !(v->type.holds_numbers() && v->type.ranked); };
  return std::any_of(n.inputs.begin(), n.inputs.end(), object) || std::any_of(n.outputs.begin(), n.outputs.end(), object);
}

bool sizes_depend_on_data(const ir::Node& n) {
  if (ir::is_checked_by_run(n)) return true;
  std::set<std::string> known;
  const auto learn = [&](const ir::Dims& dims) {
    for (ir::Dim d : dims)
      if (!d.is_constant())
        for (std::string& symbol : d.symbols()) known.insert(std::move(symbol));
  };
  for (const ir::Value* v : n.inputs) {
    if (!v || v->type.kind != ir::ValueType::Kind::tensor || !v->type.ranked) continue;
    learn(v->dims());
    if (v->contents) learn(*v->contents);
  }
  for (const ir::Value* v : n.outputs)
    if (v && v->type.kind == ir::ValueType::Kind::tensor && v->type.ranked)
      for (ir::Dim d : v->dims())
        if (!d.is_constant())
          for (const std::string& symbol : d.symbols())
            if (!known.count(symbol)) return true;
  return false;
}

namespace {
backends::OperandDesc describe(const ir::Value* v, backends::Layout layout) {
  backends::OperandDesc d;
  if (!v) {
    d.missing = true;
    return d;
  }
  d.dtype = v->dtype();
  d.dims = v->dims();
  d.layout = layout;
  d.constant = v->is_constant();
  return d;
}
}  // namespace

backends::Problem node_problem(const ir::Node& node, const backends::Formats* formats, const ir::SymbolBounds& box,
                               const backends::DeviceInfo& device, std::int64_t workspace_limit) {
  backends::Problem p;
  p.op = node.def;
  p.attributes = &node.attributes;
  p.numerics = node.numerics;
  p.numerics.type.reset(), p.numerics.exact = false;   // no tactic asks for them, and times would not be found again
  p.body = node.body ? &*node.body : nullptr;
  p.anchor_inputs = node.anchor_inputs >= 0 ? node.anchor_inputs : static_cast<int>(node.inputs.size());
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    p.in.push_back(describe(node.inputs[i], formats ? formats->in.at(i) : backends::kPlain));
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    p.out.push_back(describe(node.outputs[i], formats ? formats->out.at(i) : backends::kPlain));
  p.box = &box;
  p.device = &device;
  p.workspace_limit = workspace_limit;
  return p;
}

namespace {
// Results as inferred from extents at a point, beside those that the graph says: what is timed writes the one into memory of the other.
bool same_at(const ir::Dims& inferred, const ir::Dims& stored, const ir::SymbolValues& point) {
  if (inferred.size() != stored.size()) return false;
  for (std::size_t d = 0; d < inferred.size(); ++d)   // others depend on contents that only the model knew
    if (inferred[d].is_constant() && inferred[d].constant() != stored[d].evaluate(point)) return false;
  return true;
}
}  // namespace

bool agrees_at(const ir::Node& node, const ir::SymbolValues& point) {
  const bool symbolic =
      std::any_of(node.inputs.begin(), node.inputs.end(), [](const ir::Value* v) { return v && !ir::is_constant(v->dims()); });
  if (!symbolic || !node.graphs.empty()) return true;
  ir::Graph graph(ir::Registry::builtin());
  ir::Node copy;
  copy.def = node.def, copy.name = node.name, copy.attributes = node.attributes, copy.numerics = node.numerics,
  copy.body = node.body;
  copy.anchor_inputs = node.anchor_inputs;
  for (const ir::Value* v : node.inputs) {
    if (v && v->is_constant()) {
      copy.inputs.push_back(graph.add_constant(v->constant->tensor));
    } else if (v) {
      ir::ValueType type = v->type;
      for (ir::Dim& d : type.tensor.dims) d = ir::Dim(d.evaluate(point));
      copy.inputs.push_back(graph.add_input("x", std::move(type)));
    } else {
      copy.inputs.push_back(nullptr);
    }
  }
  try {
    const ir::Node* inferred = graph.add(std::move(copy), static_cast<int>(node.outputs.size()));
    for (std::size_t o = 0; o < node.outputs.size(); ++o)
      if (!same_at(inferred->outputs[o]->dims(), node.outputs[o]->dims(), point)) return false;
    return true;
  } catch (const Error& e) {
    return e.kind() == ErrorKind::unsupported;  // contents that were known in the model
  }
}

backends::Problem at_point(backends::Problem p, const ir::SymbolValues& point) {
  const auto fix = [&](ir::Dims& dims) {
    for (ir::Dim& d : dims) d = ir::Dim(d.evaluate(point));
  };
  for (auto* list : {&p.in, &p.out})
    for (backends::OperandDesc& d : *list) fix(d.dims), fix(d.strides);
  p.box = nullptr;
  return p;
}

}  // namespace tenfold::tune
