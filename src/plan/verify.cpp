// The walk of the load verifier over a plan's tables and programs.
#include "plan/verify.h"

#include <algorithm>
#include <set>

#include "base/checked.h"
#include "plan/extent.h"
#include "plan/format.h"
#include "plan/step_problem.h"
#include "plan/verify_step.h"

namespace tenfold::plan {
namespace {

void verify_tables(const Plan& plan) {
  for (const Constant& c : plan.constants)
    must(c.offset >= 0 && c.bytes >= 0 && c.offset % static_cast<std::int64_t>(kConstantAlignment) == 0 && c.offset <= plan.weights_bytes &&
             c.bytes <= plan.weights_bytes - c.offset, "constant '", c.name, "' does not lie in the weights");
  std::int32_t inputs = 0, outputs = 0;
  std::set<std::string> names;
  for (const Binding& b : plan.bindings) {
    must(!b.is_input || outputs == 0, "input '", b.name, "' stands behind an output");
    ++(b.is_input ? inputs : outputs);
    must(names.insert(b.name).second, "two bindings are named '", b.name, "'");
    must(b.type.kind == ir::ValueType::Kind::tensor && b.type.ranked && b.type.tensor.dtype != DType::string, "binding '", b.name, "' is ",
         ir::text(b.type), ", which plans cannot hold");
  }
  for (const StatePair& s : plan.states)
    must(s.input >= 0 && s.input < inputs && s.output >= 0 && s.output < outputs, "a state pair names binding ", s.input, " or ", s.output);
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
    must(0 <= r.min && r.min <= r.opt && r.opt <= r.max && r.max <= ir::kUnbounded, "the range of '", r.symbol, "' is ", r.min, ", ", r.opt, ", ", r.max);
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
// runtime refuses such shapes too.
std::vector<std::vector<std::int64_t>> corners(const std::vector<ir::Dim>& dims, const ir::SymbolBounds& box) {
  std::vector<std::vector<std::int64_t>> result;
  for (const bool upper : {false, true}) {
    ir::SymbolValues point;
    for (const auto& [symbol, range] : box) point[symbol] = upper ? range.upper : range.lower;
    try {
      std::vector<std::int64_t> values = ir::evaluate(dims, point);
      result.push_back(std::move(values));
    } catch (const Error&) {
    }
  }
  return result;
}

void verify_formals(const VerifyScope& scope, const Program& program) {
  std::int32_t index = 0;
  for (const std::vector<Operand>* side : {&program.inputs, &program.outputs})
    for (const Operand& formal : *side) {
      must(formal.at.space == Space::binding && formal.at.index == index++ && formal.at.offset == 0, "a formal operand is not the binding it stands for");
      for (DimIndex d : formal.dims) must(d >= 0 && static_cast<std::size_t>(d) < scope.dims.size(), "a formal operand has dim ", d);
      must(formal.dims.size() <= 64 && formal.dtype != DType::string, "a formal operand has ", formal.dims.size(), " dims of ", name(formal.dtype));
    }
}

void verify_program(const VerifyScope& scope, const Program& program);

// The bodies see the step's operands (without the condition), then its results, as their bindings.
void verify_branch(const VerifyScope& scope, const Step& step) {
  must(step.programs.size() == 2, "a branch has ", step.programs.size(), " programs");
  must(!step.in.empty() && step.in[0].at.space != Space::none && step.in[0].dtype == DType::boolean, "a branch has no condition");
  for (std::size_t d = 0; d < step.in[0].dims.size(); ++d)
    for (const auto& values : scope.corners) must(values[static_cast<std::size_t>(step.in[0].dims[d])] == 1, "a branch's condition is not one element");
  for (const Program& body : step.programs) {
    must(body.dims.empty() && body.box.empty() && body.symbols.empty(), "a body has dims of its own");
    must(body.inputs.size() == step.in.size() - 1 && body.outputs.size() == step.out.size(), "a body has ", body.inputs.size(), " inputs and ",
         body.outputs.size(), " outputs, the step gives ", step.in.size() - 1, " and ", step.out.size());
    must(body.arena_bytes <= step.workspace_bytes, "a body needs ", body.arena_bytes, " bytes of arena, the step has ", step.workspace_bytes);
    const auto same = [&](const Operand& formal, const Operand& actual, bool result) {
      must(actual.at.space != Space::none && actual.dense && actual.layout == backends::kPlain && actual.dtype == formal.dtype &&
               actual.dims.size() == formal.dims.size(), "a body's binding is not what the step gives");
      for (std::size_t d = 0; d < formal.dims.size(); ++d) {
        const ir::Dim inner = scope.dims[static_cast<std::size_t>(formal.dims[d])], outer = scope.dims[static_cast<std::size_t>(actual.dims[d])];
        // Where the branches' results differ, the step's result has room for either; extents_fit() compares the values.
        must(inner == outer || (result && inner.bounds(scope.box).upper <= outer.bounds(scope.box).upper), "a body's binding has the extent ",
             inner.text(), ", the step gives ", outer.text());
      }
    };
    verify_formals(scope, body);
    for (std::size_t i = 0; i < body.inputs.size(); ++i) same(body.inputs[i], step.in[i + 1], false);
    for (std::size_t i = 0; i < body.outputs.size(); ++i) same(body.outputs[i], step.out[i], true);
    verify_program(scope, body);
  }
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

void verify_step(const VerifyScope& scope, const Program& program, const Step& step) {
  must(step.workspace_offset >= 0 && step.workspace_bytes >= 0 && step.workspace_offset % 64 == 0 && step.workspace_offset <= program.arena_bytes &&
           step.workspace_bytes <= program.arena_bytes - step.workspace_offset, "its workspace does not lie in the arena");
  must(step.anchor_inputs >= 0 && static_cast<std::size_t>(step.anchor_inputs) <= step.in.size(), "it has ", step.anchor_inputs, " own operands of ",
       step.in.size());
  for (std::int32_t s : step.defines) must(s >= 0 && static_cast<std::size_t>(s) < scope.symbols, "it defines symbol ", s);
  must(step.defines.empty() || step.kind == StepKind::host || step.kind == StepKind::branch, "it defines sizes, which only host steps and branches do");
  must(step.kind == StepKind::branch || step.programs.empty(), "it owns programs but is no branch");
  for (const Operand& o : step.in) verify_operand(scope, program, o, false);
  for (const Operand& o : step.out) verify_operand(scope, program, o, true);
  if (step.has_body) ir::verify(step.body);
  verify_overlaps(scope, step);
  switch (step.kind) {
    case StepKind::kernel:
      verify_meaning(scope, step);
      verify_tactic(scope, step);
      break;
    case StepKind::host:
      // Loops keep their graphs in attributes; the interpreter infers every type afresh and compares each result with its room.
      if (step.attributes.has("graphs")) must(step.op == "Loop" || step.op == "Scan" || step.op == "If", "it has graphs but is no control flow");
      else verify_meaning(scope, step);
      break;
    case StepKind::copy: verify_copy(scope, step); break;
    case StepKind::branch: verify_branch(scope, step); break;
    case StepKind::loop: must(false, "this version runs no loop steps");
  }
}

void verify_program(const VerifyScope& scope, const Program& program) {
  must(program.arena_bytes >= 0, "an arena has ", program.arena_bytes, " bytes");
  std::int64_t covered = 0;
  for (const Segment& s : program.segments) {
    must(s.first == covered && s.count >= 0, "segments do not follow each other");
    covered += s.count;
  }
  must(covered == static_cast<std::int64_t>(program.steps.size()), "segments cover ", covered, " of ", program.steps.size(), " steps");
  for (const Step& step : program.steps) {
    try {
      verify_step(scope, program, step);
    } catch (const Error& e) {   // whatever an operator, body or tactic finds wrong is the plan's fault here
      throw Error(ErrorKind::plan_refused, cat("step '", step.name, "' (", step.op, "): ", e.what()));
    }
  }
}

void verify_top(const Plan& plan, const Program& program, const backends::Backend& backend, const ir::Registry& registry) {
  verify_symbols(program);
  VerifyScope scope{plan, backend, registry, program.dims, program_box(program), 0, {}};
  scope.symbols = scope.box.size();
  scope.corners = corners(program.dims, scope.box);
  verify_formals(scope, program);
  must(program.inputs.size() + program.outputs.size() == plan.bindings.size(), "a program has ", program.inputs.size() + program.outputs.size(),
       " inputs and outputs, the plan ", plan.bindings.size(), " bindings");
  for (std::size_t i = 0; i < plan.bindings.size(); ++i) {
    const Binding& b = plan.bindings[i];
    const bool input = i < program.inputs.size();
    const Operand& formal = input ? program.inputs[i] : program.outputs[i - program.inputs.size()];
    must(b.is_input == input && b.type.tensor.dtype == formal.dtype && b.type.tensor.dims.size() == formal.dims.size(), "binding '", b.name,
         "' is not what the program expects");
  }
  verify_program(scope, program);
}

}  // namespace

void verify(const Plan& plan, const backends::Backend& backend, const ir::Registry& registry) {
  verify_tables(plan);
  try {
    for (const Program& program : plan.programs) verify_top(plan, program, backend, registry);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::plan_refused) throw;
    throw Error(ErrorKind::plan_refused, e.what());
  }
}

}  // namespace tenfold::plan
