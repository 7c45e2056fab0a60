// Branches and loops of a program: their bodies become programs of the step.
#include <algorithm>

#include "base/check.h"
#include "builder/program/program_builder.h"
#include "plan/loop_form.h"

namespace tenfold::builder {

using backends::kPlain;
using ir::Dim;
using ir::Node;
using ir::Value;
using plan::Step;
using plan::StepKind;

namespace {

bool holds_tensors(const ir::Graph& graph) {
  const auto tensor = [](const auto& v) {
    return v->type.kind == ir::ValueType::Kind::tensor && v->type.ranked && v->dtype() != DType::string;
  };
  return std::all_of(graph.values().begin(), graph.values().end(), tensor) &&
         std::all_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& n) {
           return std::all_of(n->graphs.begin(), n->graphs.end(), [](const auto& body) { return holds_tensors(*body); });
         });
}
bool defines_of_body(const ir::Graph& outer, const ir::Dims& dims) {   // a size that only the body knows
  for (Dim d : dims)
    for (const std::string& symbol : d.symbols())
      if (std::none_of(outer.symbols.begin(), outer.symbols.end(), [&](const ir::Symbol& s) { return s.name == symbol; })) return true;
  return false;
}
bool one_element(const Value* v) { return v == nullptr || ir::product(v->dims()) == Dim(1); }
bool from_the_front(const ir::Ints& axes) { return std::all_of(axes.begin(), axes.end(), [](std::int64_t a) { return a == 0; }); }
bool whole_bytes(const Value* v) { return bits(v->dtype()) % 8 == 0; }
Dim bytes_of(const Value* v) { return ceil_div(ir::product(v->dims()) * Dim(bits(v->dtype())), Dim(8)); }

// Extents of a carried value that change are symbols of the loop's own, in its operand as in its result.
bool carried_fits(const DimTable& table, const ir::Dims& entering, const ir::Dims& formal, const ir::Dims& leaving,
                  const ir::Dims& result) {
  if (formal != result || entering.size() != formal.size() || leaving.size() != formal.size()) return false;
  for (std::size_t d = 0; d < formal.size(); ++d) {
    const bool own = formal[d].is_symbol() && table.symbol(formal[d].text()) < 0;
    if (!own && (entering[d] != formal[d] || leaving[d] != formal[d])) return false;
  }
  return true;
}
// A loop's slices lie one after the other, and their extents are known before it runs.
bool loop_fits(const ir::Graph& outer, const Node& node, const plan::LoopForm& form, const DimTable& table) {
  const ir::Graph& body = *node.graphs[0];
  if (form.header && (!one_element(node.inputs[0]) || !one_element(node.inputs[1]) || !one_element(body.outputs[0]))) return false;
  if (!from_the_front(node.attributes.ints("scan_input_axes", {})) || !from_the_front(node.attributes.ints("scan_output_axes", {})))
    return false;
  for (std::size_t c = 0; c < form.carried; ++c)
    if (!carried_fits(table, node.inputs[form.header + c]->dims(), body.inputs[form.header + c]->dims(),
                      body.outputs[form.body_header() + c]->dims(), node.outputs[c]->dims()))
      return false;
  for (std::size_t i = form.header + form.carried; i < node.inputs.size(); ++i) {
    const Value* v = node.inputs[i];
    const bool sliced = i < form.header + form.carried + form.sliced;
    const ir::Dims expected(v->dims().begin() + (sliced ? 1 : 0), v->dims().end());
    if (body.inputs[i]->dims() != expected) return false;
    if (sliced && (!whole_bytes(v) || v->dims()[0] != node.inputs[form.carried]->dims()[0])) return false;
  }
  for (std::size_t s = 0; s < form.stacked; ++s) {
    const Value* slice = body.outputs[form.body_header() + form.carried + s];
    const ir::Dims& whole = node.outputs[form.carried + s]->dims();
    if (!whole_bytes(slice) || defines_of_body(outer, slice->dims()) || !table.knows(slice->dims()) ||
        !std::equal(slice->dims().begin(), slice->dims().end(), whole.begin() + 1, whole.end()))
      return false;
  }
  return true;
}

}  // namespace

bool ProgramBuilder::fits_program(const Node& node) const {
  for (const auto& body : node.graphs)
    if (!holds_tensors(*body)) return false;
  if (node.def->traits.control != ir::Control::branch)
    return loop_fits(graph_, node, plan::loop_form(node.attributes, node.outputs.size()), table_);
  // The taken branch fills the step's result, which has its memory before.
  const auto bounded = [this](const Value* v) { return !must_grow(bytes_of(v)); };
  const auto known = [this](const Value* v) { return table_.knows(v->dims()); };
  const auto all_results = [&](const auto& holds) {
    return std::all_of(node.graphs.begin(), node.graphs.end(), [&](const auto& body) {
      return std::all_of(body->outputs.begin(), body->outputs.end(), holds);
    });
  };
  return (std::all_of(node.outputs.begin(), node.outputs.end(), bounded) && all_results(bounded)) || all_results(known);
}

void ProgramBuilder::add_bodies(const Node& node, Step& step) {
  std::int64_t arena = 0;
  for (const auto& body : node.graphs) {
    ProgramBuilder nested(*body, choice_, constants_, table_, box_, {{}, &backend_, {}, true}, needs_);
    step.programs.push_back(nested.build());
    arena = std::max(arena, step.programs.back().arena_bytes);
  }
  if (arena > 0) workspaces_.emplace_back(steps_.size(), new_buffer(Dim(arena)));
  define_symbols(node, step);
}

void ProgramBuilder::add_branch(const Node& node) {
  Step step;
  step.kind = StepKind::branch;
  step.name = node.name, step.op = node.op();
  add_plain_operands(node, step);
  add_bodies(node, step);
  push(std::move(step));
}

void ProgramBuilder::add_loop(const Node& node) {
  Step step;
  step.kind = StepKind::loop;
  step.name = node.name, step.op = node.op(), step.attributes = node.attributes;
  add_plain_operands(node, step);
  const plan::LoopForm form = plan::loop_form(node.attributes, node.outputs.size());
  const ir::Graph& body = *node.graphs[0];
  std::vector<const Value*> changing;   // their extents
  for (std::size_t c = 0; c < form.carried; ++c) {
    const Value* v = node.outputs[c];
    const bool changes =
        v->dims() != node.inputs[form.header + c]->dims() || v->dims() != body.outputs[form.body_header() + c]->dims();
    if (changes) changing.push_back(v);
    step.out.push_back(operand(v, {changes ? new_growing_place(v) : new_place(v, kPlain), kPlain, true, {}}));
  }
  for (const Value* v : changing) step.out.push_back(operand(v, {new_growing_place(v), kPlain, true, {}}));
  define_symbols(node, step);   // the body counts with those of carried values
  add_bodies(node, step);
  push(std::move(step));
}

}  // namespace tenfold::builder
