// Steps of one program: kernels, host steps and the copies between them; program_control.cpp has branches and loops.
#include "builder/program/program_builder.h"

#include "base/check.h"
#include "builder/program/host_graphs.h"

namespace tenfold::builder {

using backends::kPlain;
using backends::Layout;
using ir::Dim;
using ir::Node;
using ir::Value;
using plan::Space;
using plan::Step;
using plan::StepKind;

ProgramBuilder::ProgramBuilder(const ir::Graph& graph, const tune::Choice& choice, ConstantPool& constants, DimTable& table,
                               const ir::SymbolBounds& box, const AssembleOptions& options, std::uint32_t& needs)
    : graph_(graph), choice_(choice), constants_(constants), table_(table), box_(box), backend_(*options.backend), needs_(needs),
      is_body_(options.is_body), storage_(graph, choice, box, options.backend->info()) {
  for (const auto& node : graph.nodes())
    if (options.precomputed.contains(node.get()) && stays_early(*node)) early_.insert(node.get());
}

// An input that is brought into another layout is read in whole, with its newest row. What follows what waits for that, waits, too.
bool ProgramBuilder::stays_early(const Node& node) const {
  const auto waits = [&](const Value* v) {
    return v && v->producer && !early_.contains(v->producer);
  };
  if (std::any_of(node.inputs.begin(), node.inputs.end(), waits) || tune::sizes_depend_on_data(node)) return false;
  const auto it = choice_.find(&node);
  if (it == choice_.end() || !it->second.tactic || !storage_.needs_step(node)) return true;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Value* v = node.inputs[i];
    if (v && !v->producer && !v->is_constant() && !backends::same_as_plain(it->second.formats.in[i], v->dims())) return false;
  }
  return true;
}

void ProgramBuilder::add_nodes() {
  for (const auto& node : graph_.nodes())
    if (early_.contains(node.get())) add_node(*node);
  precomputed_steps_ = steps_.size();
  for (const bool first : {true, false})
    for (const auto& node : graph_.nodes())
      if (!early_.contains(node.get()) && stands_first(*node) == first) add_node(*node);
}

namespace {
// Results of a run stay until the next one: steps before the newest row touch no output.
bool writes_binding(const Step& step) {
  return std::any_of(step.out.begin(), step.out.end(), [](const plan::Operand& o) { return o.at.space == Space::binding; });
}
}  // namespace

plan::Program ProgramBuilder::build() {
  plan::Program program;
  bind_formals(program);
  pack_weights();
  add_nodes();
  for (std::size_t o = 0; o < graph_.outputs.size(); ++o) add_copy_to_output(o);
  place(program);
  program.objects = std::move(objects_);
  program.steps = std::move(steps_);
  const auto last_precomputed = program.steps.begin() + static_cast<std::ptrdiff_t>(precomputed_steps_);
  program.precomputed =
      static_cast<std::int32_t>(std::find_if(program.steps.begin(), last_precomputed, writes_binding) - program.steps.begin());
  for (std::size_t s = 0; s < program.steps.size(); ++s) {   // what follows a step that defines sizes waits for the host
    if (s == 0 || !program.steps[s - 1].defines.empty()) program.segments.push_back({static_cast<std::int32_t>(s), 0});
    ++program.segments.back().count;
  }
  return program;
}

void ProgramBuilder::bind_formals(plan::Program& program) {
  const auto formal = [&](const Value* v, std::size_t index) {
    if (!plan::lies_in_memory(v->type)) return bound_object(v, index);
    plan::Operand o;
    o.at = {Space::binding, static_cast<std::int32_t>(index), 0};
    o.dtype = v->dtype();
    o.dims = table_.add(v->dims());
    o.strides = table_.add(backends::strides(kPlain, v->dims()));
    return o;
  };
  for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
    const Value* v = graph_.inputs[i];
    program.inputs.push_back(formal(v, i));
    if (plan::lies_in_memory(v->type)) stored_[{v, kPlain}] = {program.inputs.back().at, kPlain, true, {}};
  }
  for (std::size_t o = 0; o < graph_.outputs.size(); ++o) {
    const Value* v = graph_.outputs[o];
    program.outputs.push_back(formal(v, graph_.inputs.size() + o));
    output_index_.try_emplace(v, o);
    if (is_body_ && !table_.knows(v->dims())) late_.insert(v);
  }
}

// What the host counts of inputs comes before all that a GPU computes (plan/host_prologue.h).
bool ProgramBuilder::stands_first(const Node& node) const {
  const auto given = [](const Value* v) { return !v || !v->producer; };
  return !backend_.memory().host_reads() && node.graphs.empty() && tune::sizes_depend_on_data(node) &&
         std::all_of(node.inputs.begin(), node.inputs.end(), given);
}

void ProgramBuilder::add_node(const Node& node) {
  try {
    if (tune::touches_objects(node)) return add_host(node);
    if (!storage_.needs_step(node)) {
      if (!storage_.needs_memory(node)) return;
      for (const Value* v : node.outputs) store_result(v, storage_.stored_layout(v));
      return;
    }
    if (tune::is_control_flow(node)) {
      if (!fits_program(node)) return add_host(node);
      return node.def->traits.control == ir::Control::branch ? add_branch(node) : add_loop(node);
    }
    auto it = choice_.find(&node);
    if (it != choice_.end() && it->second.tactic) return add_kernel(node, it->second);
    if (tune::is_view(node)) {   // a movement of bytes that could not become a view
      Step step;
      step.kind = StepKind::copy, step.name = node.name, step.op = "Identity";
      step.in.push_back(read(node.in(0), kPlain, false));
      step.out.push_back(operand(node.out(), store_result(node.out(), kPlain)));
      define_symbols(node, step);
      return push(std::move(step));
    }
    add_host(node);
  } catch (Error& e) {
    throw e.within("planning node '" + node.name + "' (" + node.op() + ")");
  }
}

namespace {
Step step_of(const Node& node, StepKind kind) {
  Step step;
  step.kind = kind;
  step.name = node.name, step.op = node.op(), step.attributes = node.attributes;
  step.numerics = node.numerics, step.numerics.type.reset(), step.numerics.exact = false;
  step.has_body = node.body.has_value();
  if (node.body) step.body = *node.body;
  step.anchor_inputs = node.anchor_inputs >= 0 ? node.anchor_inputs : static_cast<int>(node.inputs.size());
  return step;
}
}  // namespace

void ProgramBuilder::add_plain_operands(const Node& node, Step& step) {
  const auto memory = [](const Value* v) { return plan::lies_in_memory(v->type); };
  for (const Value* v : node.inputs) step.in.push_back(!v ? plan::Operand{} : memory(v) ? read(v, kPlain, false) : object(v));
  for (const Value* v : node.outputs) step.out.push_back(memory(v) ? operand(v, store_result(v, kPlain)) : object(v));
}

void ProgramBuilder::add_kernel(const Node& node, const tune::NodeChoice& choice) {
  Step step = step_of(node, StepKind::kernel);
  step.tactic = choice.tactic->name, step.tactic_version = choice.tactic->version, step.config = choice.config;
  const backends::Problem& problem = problem_of(node, choice);
  const bool strided_ok = choice.tactic->supports(problem).yes;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Value* v = node.inputs[i];
    const Layout layout = choice.formats.in[i];
    const auto packed_at = packed_.find({&node, static_cast<int>(i)});
    if (!v) step.in.push_back({});
    else if (packed_at != packed_.end()) step.in.push_back(packed(v, packed_at->second));
    else step.in.push_back(read(v, layout, strided_ok));
  }
  for (std::size_t o = 0; o < node.outputs.size(); ++o)
    step.out.push_back(operand(node.outputs[o], store_result(node.outputs[o], choice.formats.out[o])));
  if (choice.tactic->workspace) {
    const Dim bytes = choice.tactic->workspace(problem, choice.config);
    const plan::Address place = bytes == Dim(0) ? plan::Address{} : new_place(bytes);
    if (place.space == Space::arena) workspaces_.emplace_back(steps_.size(), place.index);
    if (place.space == Space::grown) step.workspace_dynamic = place.index;
  }
  define_symbols(node, step);
  needs_ |= choice.tactic->needs ? choice.tactic->needs(problem, choice.config) : 0;
  push(std::move(step));
  merge_in_place(steps_.back(), problem, *choice.tactic);
}

void ProgramBuilder::add_host(const Node& node) {
  Step step = step_of(node, StepKind::host);
  if (tune::is_control_flow(node)) store_graphs(node, step.attributes);
  add_plain_operands(node, step);
  define_symbols(node, step);
  push(std::move(step));
}

// Symbols in a step's result types that nobody defined before: the step defines them.
void ProgramBuilder::define_symbols(const Node& node, Step& step) {
  for (const Value* v : node.outputs)
    for (Dim d : v->type.is_tensor() ? v->dims() : ir::Dims())
      for (const std::string& name : d.symbols()) {
        if (table_.symbol(name) >= 0) continue;
        check(d.is_symbol(), "'", v->name, "' has the dim ", d.text(), ", whose symbol '", name, "' nothing defines");
        ir::Symbol symbol{.name = name, .lower = Dim(0), .upper = Dim(ir::kUnbounded), .origin = ir::Origin::host_value};
        for (const ir::Symbol& s : graph_.symbols)
          if (s.name == name) symbol = s;
        table_.symbols.push_back(symbol);
        step.defines.push_back(static_cast<std::int32_t>(table_.symbols.size() - 1));
      }
}

// An output that no step wrote in place: a graph input, a constant, or a value that is an output twice.
void ProgramBuilder::add_copy_to_output(std::size_t o) {
  const Value* v = graph_.outputs[o];
  const auto binding = static_cast<std::int32_t>(graph_.inputs.size() + o);
  if (!plan::lies_in_memory(v->type)) return add_object_to_output(v, binding);
  auto it = stored_.find({v, kPlain});
  if (it != stored_.end() && it->second.at.space == Space::binding && it->second.at.index == binding) return;
  Step step;
  step.kind = StepKind::copy, step.name = "output " + v->name, step.op = "Identity";
  step.in.push_back(v->is_constant() ? constant(v, kPlain) : read(v, kPlain, false));
  if (step.in[0].at.space == Space::binding && step.in[0].at.index == binding) return;   // brought to plain order in its place
  plan::Operand out = step.in[0];
  out.at = {Space::binding, binding, 0};
  out.constant = false;
  step.out.push_back(std::move(out));
  push(std::move(step));
}

}  // namespace tenfold::builder
