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

// A loop's carried values keep one type over all iterations, and its slices lie one after the other.
bool loop_fits(const ir::Graph& outer, const Node& node, const plan::LoopForm& form) {
  const ir::Graph& body = *node.graphs[0];
  if (form.header && (!one_element(node.inputs[0]) || !one_element(node.inputs[1]) || !one_element(body.outputs[0]))) return false;
  if (!from_the_front(node.attributes.ints("scan_input_axes", {})) || !from_the_front(node.attributes.ints("scan_output_axes", {})))
    return false;
  for (std::size_t c = 0; c < form.carried; ++c) {
    const ir::Dims& dims = body.inputs[form.header + c]->dims();
    if (dims != node.inputs[form.header + c]->dims() || dims != body.outputs[form.body_header() + c]->dims() ||
        dims != node.outputs[c]->dims())
      return false;
  }
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
    if (!whole_bytes(slice) || defines_of_body(outer, slice->dims()) ||
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
    return loop_fits(graph_, node, plan::loop_form(node.attributes, node.outputs.size()));
  const auto bounded = [this](const Value* v) { return !must_grow(bytes_of(v)); };   // the taken branch fills the step's result
  return std::all_of(node.outputs.begin(), node.outputs.end(), bounded) &&
         std::all_of(node.graphs.begin(), node.graphs.end(),
                     [&](const auto& body) { return std::all_of(body->outputs.begin(), body->outputs.end(), bounded); });
}

void ProgramBuilder::add_bodies(const Node& node, Step& step) {
  std::int64_t arena = 0;
  for (const auto& body : node.graphs) {
    ProgramBuilder nested(*body, choice_, constants_, table_, box_, {{}, &backend_, {}}, needs_);
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
  for (std::size_t c = 0; c < form.carried; ++c) {   // the second place of each carried value
    const Stored spare{new_place(node.outputs[c], kPlain), kPlain, true, {}};
    step.out.push_back(operand(node.outputs[c], spare));
  }
  add_bodies(node, step);
  push(std::move(step));
}

}  // namespace tenfold::builder
