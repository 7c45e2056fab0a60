// The walk of the load verifier over a plan's tables and programs.
#include "plan/verify.h"

#include <algorithm>
#include <set>

#include "base/checked.h"
#include "plan/extent.h"
#include "plan/format.h"
#include "plan/read.h"
#include "plan/step_problem.h"
#include "plan/verify_step.h"
#include "plan/write.h"

namespace tenfold::plan {
namespace {

void verify_tables(const Plan& plan) {
  for (const Constant& c : plan.constants)
    must(c.offset >= 0 && c.bytes >= 0 && c.offset % static_cast<std::int64_t>(kConstantAlignment) == 0 && c.offset <= plan.weights_bytes &&
             c.bytes <= plan.weights_bytes - c.offset, "constant '", c.name, "' does not lie in the weights");
  std::int32_t inputs = 0, outputs = 0;
  std::set<std::string> names[2];   // an output that is an input has its name
  for (const Binding& b : plan.bindings) {
    must(!b.is_input || outputs == 0, "input '", b.name, "' stands after an output");
    ++(b.is_input ? inputs : outputs);
    must(names[b.is_input].insert(b.name).second, "two ", b.is_input ? "inputs" : "outputs", " are named '", b.name, "'");
    if (b.default_constant == -1) continue;
    const auto index = static_cast<std::size_t>(b.default_constant);
    must(b.is_input && b.default_constant >= 0 && lies_in_memory(b.type) && index < plan.constants.size() &&
             ir::is_constant(b.type.tensor.dims) &&
             plan.constants[index].bytes == byte_size(b.type.tensor.dtype, element_count(ir::constants(b.type.tensor.dims))),
         "binding '", b.name, "' has constant ", b.default_constant, " for a default, which does not suit it");
  }
  for (const StatePair& s : plan.states)
    must(s.input >= 0 && s.input < inputs && s.output >= 0 && s.output < outputs, "a state pair names binding ", s.input, " or ", s.output);
  for (const Tensor& t : plan.literals) must(t.dtype() == DType::string, "a literal is of ", name(t.dtype()), ", strings expected");
  must(!plan.programs.empty(), "the plan has no program");
}

// The symbols of the box first, in its order, each once; bounds use earlier symbols only.
void verify_symbols(const Program& program) {
  std::set<std::string, std::less<>> known;
  const auto only_known = [&](ir::Dim d, const char* where) {
    for (const std::string& s : d.symbols()) must(known.count(s), where, " uses the symbol '", s, "', which is not known there");
  };
  for (const Range& r : program.box) {
    must(!r.symbol.empty() && known.insert(r.symbol).second, "the range of symbol '", r.symbol, "' is given twice, or has no name");
    must(0 <= r.min && r.min <= r.opt && r.opt <= r.max && r.max <= ir::kUnbounded, "the range of '", r.symbol, "' is ", r.min, ", ", r.opt,
         ", ", r.max);
  }
  for (std::size_t i = 0; i < program.symbols.size(); ++i) {
    const ir::Symbol& s = program.symbols[i];
    only_known(s.lower, "a symbol's bound"), only_known(s.upper, "a symbol's bound");
    const bool in_box = std::any_of(program.box.begin(), program.box.end(), [&](const Range& r) { return r.symbol == s.name; });
    must(!s.name.empty() && (in_box || known.insert(s.name).second), "symbol '", s.name, "' is defined twice, or has no name");
  }
  for (ir::Dim d : program.dims) only_known(d, "the table of dims");
}

// The dims' values where every symbol is least, and where it is largest; left out if they cannot be computed there, since the
// runtime refuses such shapes too. Symbols that steps define may have no bound worth the name: there a few thousand stand for many.
std::vector<std::vector<std::int64_t>> corners(const VerifyScope& scope) {
  constexpr std::int64_t kMany = 1 << 12;
  std::vector<std::vector<std::int64_t>> result;
  for (const bool upper : {false, true}) {
    ir::SymbolValues point;
    for (std::size_t s = 0; s < scope.symbols.size(); ++s) {
      const std::string symbol = scope.symbols[s].text();
      const ir::Interval range = scope.box.at(symbol);
      point[symbol] = !upper ? range.lower : s < scope.input_symbols ? range.upper : std::min(range.upper, std::max(range.lower, kMany));
    }
    try {
      std::vector<std::int64_t> values = ir::evaluate(scope.dims, point);
      result.push_back(std::move(values));
    } catch (const Error&) {
    }
  }
  return result;
}

bool is_object(const Operand& o) { return o.at.space == Space::object; }

// Objects are written once, by a host step, in front of those that read them, so that none is read before it is there.
void verify_objects(const Program& program) {
  const std::size_t bindings = program.inputs.size() + program.outputs.size();
  must(program.objects.empty() || program.objects.size() >= bindings, "a program with ", program.objects.size(),
       " objects has fewer than its ", bindings, " bindings");
  std::vector<char> there(program.objects.size());
  for (std::size_t i = 0; i < program.inputs.size() && i < there.size(); ++i) there[i] = is_object(program.inputs[i]);
  const auto at = [](const Operand& o) { return static_cast<std::size_t>(o.at.index); };   // verified with its step
  for (const Step& step : program.steps) {
    for (const Operand& o : step.in)
      must(!is_object(o) || (at(o) < there.size() && there[at(o)]), "step '", step.name, "' reads object ", o.at.index,
           ", which nothing before it gives");
    for (const Operand& o : step.out)
      if (is_object(o)) {
        must(o.at.index >= 0 && at(o) < there.size() && !there[at(o)], "step '", step.name, "' gives object ", o.at.index,
             ", which is there already or does not exist");
        there[at(o)] = 1;
      }
  }
  for (const Operand& o : program.outputs) must(!is_object(o) || there.at(at(o)), "no step gives output ", o.at.index, ", an object");
  for (const ir::ValueType& type : program.objects)
    must(type.tensor.dims.size() <= kMaxRank, "an object's type has ", type.tensor.dims.size(), " dims");
}

void verify_copy(const VerifyScope& scope, const Step& step) {
  must(step.in.size() == 1 && step.out.size() == 1, "a copy has ", step.in.size(), " operands and ", step.out.size(), " results");
  const Operand &from = step.in[0], &to = step.out[0];
  const auto dims_of = [&](const Operand& o) {
    ir::Dims dims;
    for (DimIndex d : o.dims) dims.push_back(scope.dims[static_cast<std::size_t>(d)]);
    return dims;
  };
  must(from.at.space != Space::none && from.dense && to.dense && !from.packed && bits(from.dtype) == bits(to.dtype) &&
           ir::product(dims_of(from)) == ir::product(dims_of(to)), "a copy's two sides differ");
}

void verify_step(const VerifyScope& scope, const Program& program, const Step& step, Known& known) {
  must(step.workspace_offset >= 0 && step.workspace_bytes >= 0 && step.workspace_offset % 64 == 0 &&
           step.workspace_offset <= program.arena_bytes && step.workspace_bytes <= program.arena_bytes - step.workspace_offset,
       "its workspace does not lie in the arena");
  must(step.anchor_inputs >= 0 && static_cast<std::size_t>(step.anchor_inputs) <= step.in.size(), "it has ", step.anchor_inputs,
       " own operands of ", step.in.size());
  // A tactic takes as many of them for the operator's.
  must(step.kind != StepKind::kernel || step.has_body || static_cast<std::size_t>(step.anchor_inputs) == step.in.size(), "it has ",
       step.anchor_inputs, " own operands of ", step.in.size(), " and no body that reads the others");
  must(step.workspace_dynamic >= -1 && step.workspace_dynamic < static_cast<std::int32_t>(scope.top.grown.size()),
       "its workspace is growing buffer ", step.workspace_dynamic, " of ", scope.top.grown.size());
  must(step.defines.empty() || (step.kind != StepKind::kernel && step.kind != StepKind::copy),
       "it defines sizes, which only host steps, branches and loops do");
  must(step.kind == StepKind::branch || step.kind == StepKind::loop || step.programs.empty(), "it owns programs but is no branch or loop");
  for (const auto* list : {&step.in, &step.out})
    for (const Operand& o : *list)
      must(step.kind == StepKind::host || (o.at.space != Space::object && o.at.space != Space::literal),
           "it has an operand that only host steps see");
  for (const Operand& o : step.in) verify_operand(scope, program, o, false);
  for (const Operand& o : step.out) verify_operand(scope, program, o, true);
  const Known before = step.programs.empty() ? Known() : known;
  verify_order(scope, step, known);
  if (step.has_body) ir::verify(step.body);
  if (step.kind == StepKind::kernel || step.kind == StepKind::host) verify_present(scope, step);
  if (step.kind != StepKind::kernel) verify_overlaps(scope, step);
  switch (step.kind) {
    case StepKind::kernel:
      verify_meaning(scope, step);
      verify_tactic(scope, step);
      verify_overlaps(scope, step);   // asks the tactic, which must be able to trust the problem
      break;
    case StepKind::host:
      must(!step.has_body || scope.registry.get(step.op).traits.region, "a host step with an epilogue");
      // Loops keep their graphs in attributes; the interpreter infers every type afresh and compares each result with its room.
      if (step.attributes.has("graphs"))
        must(scope.registry.get(step.op).traits.control != ir::Control::none, "it has graphs but is no control flow");
      else verify_meaning(scope, step);
      break;
    case StepKind::copy: verify_copy(scope, step); break;
    case StepKind::branch: verify_branch(scope, step, before); break;
    case StepKind::loop: verify_loop(scope, step, before); break;
    case StepKind::count_: break;
  }
}

// The program of a profile may know extents that the binding leaves open. A run takes a program only if the shapes of all inputs suit it,
// and compares what its steps give with what it expects. It has no shapes of the elements of an input that is a sequence: those are the
// binding's.
bool specializes(const ir::ValueType& object, const Binding& binding) {
  if (object == binding.type) return true;
  if (binding.is_input && !object.is_tensor()) return false;
  if (object.ranked != binding.type.ranked || object.without_dims() != binding.type.without_dims()) return false;
  const ir::Dims &known = object.tensor.dims, &open = binding.type.tensor.dims;
  return std::equal(known.begin(), known.end(), open.begin(), open.end(),
                    [](const ir::Dim& a, const ir::Dim& b) { return a == b || !b.is_constant(); });
}

void verify_top(const Plan& plan, const Program& program, const backends::TacticSet& tactics, const ir::Registry& registry) {
  verify_symbols(program);
  VerifyScope scope{plan, tactics, registry, program.dims, program_box(program), program, program.box.size()};
  for (const std::string& name : symbol_names(program)) scope.symbols.push_back(ir::Dim::symbol(name));
  scope.defined_by_steps = symbols_of_steps(program);
  scope.corners = corners(scope);
  for (DimIndex d : program.grown)
    must(d >= 0 && static_cast<std::size_t>(d) < program.dims.size(), "a growing buffer has dim ", d, " bytes");
  verify_formals(scope, program);
  for (const Operand& input : program.inputs)
    for (DimIndex d : input.dims)
      must(scope.defined_by_steps[static_cast<std::size_t>(d)].empty(), "the shape of an input depends on what a step defines");
  must(program.inputs.size() + program.outputs.size() == plan.bindings.size(), "a program has ",
       program.inputs.size() + program.outputs.size(), " inputs and outputs, the plan ", plan.bindings.size(), " bindings");
  for (std::size_t i = 0; i < plan.bindings.size(); ++i) {
    const Binding& b = plan.bindings[i];
    const bool input = i < program.inputs.size();
    const Operand& formal = input ? program.inputs[i] : program.outputs[i - program.inputs.size()];
    must(b.is_input == input && is_object(formal) != lies_in_memory(b.type), "binding '", b.name, "' is ", ir::text(b.type),
         ", the program expects something else");
    if (is_object(formal))
      must(specializes(program.objects[i], b), "binding '", b.name, "' is ", ir::text(b.type), ", the program expects ",
           ir::text(program.objects[i]));
    else
      must(b.type.tensor.dtype == formal.dtype && b.type.tensor.dims.size() == formal.dims.size(), "binding '", b.name,
           "' is not what the program expects");
  }
  verify_objects(program);
  verify_program(scope, program, {});
}

}  // namespace

void verify_program(const VerifyScope& scope, const Program& program, Known known) {
  must(program.arena_bytes >= 0, "an arena has ", program.arena_bytes, " bytes");
  std::int64_t covered = 0;
  for (const Segment& s : program.segments) {
    must(s.first == covered && s.count >= 0, "segments do not follow each other");
    covered += s.count;
  }
  must(covered == static_cast<std::int64_t>(program.steps.size()), "segments cover ", covered, " of ", program.steps.size(), " steps");
  must(program.precomputed >= 0 && program.precomputed <= static_cast<std::int64_t>(program.steps.size()), program.precomputed, " of ",
       program.steps.size(), " steps are precomputed");
  for (std::int32_t i = 0; i < program.precomputed; ++i)   // the run that follows forgets what steps defined
    must(program.steps[static_cast<std::size_t>(i)].defines.empty(), "step ", i, " is precomputed and defines sizes");
  if (program.precomputed > 0) {
    const auto count = static_cast<std::int64_t>(program.inputs.size());
    must(program.rows_input >= 0 && program.rows_input < count, "precomputed steps read rows of binding ", program.rows_input, " of ",
         count);
    const auto rank = static_cast<std::int64_t>(program.inputs[static_cast<std::size_t>(program.rows_input)].dims.size());
    must(program.rows_axis >= 0 && program.rows_axis < rank, "precomputed steps read rows along axis ", program.rows_axis, " of ", rank);
  }
  for (const Step& step : program.steps) {
    try {
      verify_step(scope, program, step, known);
    } catch (const Error& e) {   // whatever an operator, body or tactic finds wrong is the plan's fault here
      if (e.kind() == ErrorKind::cancelled) throw;
      throw Error(ErrorKind::plan_refused, cat("step '", step.name, "' (", step.op, "): ", e.what()));
    }
  }
}

void verify_built(const Plan& plan, const backends::TacticSet& tactics, const ir::Registry& registry) {
  try {
    const std::string metadata = write_metadata(plan);
    read_metadata(std::as_bytes(std::span(metadata)));
    verify(plan, tactics, registry);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::unsupported || e.kind() == ErrorKind::out_of_memory || e.kind() == ErrorKind::cancelled) throw;
    throw Error(ErrorKind::internal, cat("the plan that was built could not be loaded: ", e.what()));
  }
}

void verify(const Plan& plan, const backends::TacticSet& tactics, const ir::Registry& registry) {
  verify_tables(plan);
  try {
    for (const Program& program : plan.programs) verify_top(plan, program, tactics, registry);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::plan_refused || e.kind() == ErrorKind::cancelled) throw;
    throw Error(ErrorKind::plan_refused, e.what());
  }
}

}  // namespace tenfold::plan
