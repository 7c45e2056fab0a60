// Branches and loops of a plan: their bodies get what they expect, and nothing is used before its size is known.
#include <algorithm>

#include "plan/format.h"
#include "plan/loop_form.h"
#include "plan/verify_step.h"

namespace tenfold::plan {
namespace {

ir::Dim dim_at(const VerifyScope& scope, DimIndex i) { return scope.dims[static_cast<std::size_t>(i)]; }

// A body's binding against what the step gives: `skip` leading dims of `actual` are not the body's.
void verify_same(const VerifyScope& scope, const Operand& formal, const Operand& actual, std::size_t skip = 0) {
  must(actual.at.space != Space::none && actual.dense && !actual.packed && actual.layout == backends::kPlain &&
           actual.dtype == formal.dtype && actual.dims.size() == formal.dims.size() + skip,
       "a body's binding is not what the step gives");
  for (std::size_t d = 0; d < formal.dims.size(); ++d) {
    const ir::Dim inner = dim_at(scope, formal.dims[d]), outer = dim_at(scope, actual.dims[d + skip]);
    must(inner == outer, "a body's binding has the extent ", inner.text(), ", the step gives ", outer.text());
  }
}

// Results of branches may differ: the step's result has room for either; extents_fit() compares the values.
void verify_result_room(const VerifyScope& scope, const Operand& formal, const Operand& actual) {
  must(actual.at.space != Space::none && actual.dense && actual.layout == backends::kPlain && actual.dtype == formal.dtype &&
           actual.dims.size() == formal.dims.size(), "a body's binding is not what the step gives");
  for (std::size_t d = 0; d < formal.dims.size(); ++d) {
    const ir::Dim inner = dim_at(scope, formal.dims[d]), outer = dim_at(scope, actual.dims[d]);
    must(inner == outer || inner.bounds(scope.box).upper <= outer.bounds(scope.box).upper, "a body's binding has the extent ", inner.text(),
         ", the step gives ", outer.text());
  }
}

void verify_scalar(const VerifyScope& scope, const Operand& o, DType dtype, const char* what) {
  must(o.at.space != Space::none && o.dtype == dtype, what, " is missing or of another type");
  for (DimIndex d : o.dims) must(dim_at(scope, d).bounds(scope.box) == ir::Interval{1, 1}, what, " is not one element");
}

void verify_frame(const VerifyScope& scope, const Step& step, const Program& body) {
  must(body.dims.empty() && body.box.empty() && body.symbols.empty() && body.grown.empty(), "a body has dims of its own");
  must(body.arena_bytes <= step.workspace_bytes, "a body needs ", body.arena_bytes, " bytes of arena, the step has ", step.workspace_bytes);
  verify_formals(scope, body);
}

}  // namespace

void verify_formals(const VerifyScope& scope, const Program& program) {
  std::int32_t index = 0;
  for (const std::vector<Operand>* side : {&program.inputs, &program.outputs})
    for (const Operand& formal : *side) {
      const bool object = formal.at.space == Space::object;
      must((object || formal.at.space == Space::binding) && formal.at.index == index++ && formal.at.offset == 0,
           "a formal operand is not the binding it stands for");
      for (DimIndex d : formal.dims) must(d >= 0 && static_cast<std::size_t>(d) < scope.dims.size(), "a formal operand has dim ", d);
      if (object) verify_operand(scope, program, formal, false);
      must(formal.dims.size() <= kMaxRank && (object || formal.dtype != DType::string), "a formal operand has ", formal.dims.size(),
           " dims of ", name(formal.dtype));
    }
}

// The bodies see the step's operands (without the condition), then its results, as their bindings.
void verify_branch(const VerifyScope& scope, const Step& step, const Known& known) {
  must(step.programs.size() == 2, "a branch has ", step.programs.size(), " programs");
  must(!step.in.empty(), "a branch has no condition");
  verify_scalar(scope, step.in[0], DType::boolean, "a branch's condition");
  for (const Program& body : step.programs) {
    must(body.inputs.size() == step.in.size() - 1 && body.outputs.size() == step.out.size(), "a body has ", body.inputs.size(),
         " inputs and ", body.outputs.size(), " outputs, the step gives ", step.in.size() - 1, " and ", step.out.size());
    verify_frame(scope, step, body);
    for (std::size_t i = 0; i < body.inputs.size(); ++i) verify_same(scope, body.inputs[i], step.in[i + 1]);
    for (std::size_t i = 0; i < body.outputs.size(); ++i) verify_result_room(scope, body.outputs[i], step.out[i]);
    verify_program(scope, body, known);
  }
}

namespace {

// As many operands and results as its attributes and its body say.
LoopForm verified_form(const Step& step) {
  const Program& body = step.programs[0];
  const LoopForm form = loop_form(step);
  const auto wrong = [&](bool right) {
    must(right, "a loop has ", step.in.size(), " operands and ", step.out.size(), " results, its body ", body.inputs.size(), " and ",
         body.outputs.size());
  };
  wrong(form.carried <= step.out.size() / 2 && form.sliced <= step.in.size() &&
        form.header + form.carried + form.sliced <= step.in.size() && body.inputs.size() == step.in.size() &&
        body.outputs.size() >= form.body_header() + form.carried && form.stacked <= step.out.size());
  std::size_t places = form.carried;
  for (std::size_t c = 0; c < form.carried; ++c) places += changes_extents(step, form, c);
  wrong(step.out.size() == form.carried + form.stacked + places);
  must(form.header != 0 || form.sliced > 0, "a loop has nothing to count");
  return form;
}

// Carried values have the extents of the body's operand in every iteration, but where those are symbols that the loop defines: these are
// known `inside` of the body.
void verify_carried(const VerifyScope& scope, const Step& step, const LoopForm& form, Known& inside) {
  const Program& body = step.programs[0];
  const LoopPlaces places = loop_places(step, form);
  for (std::size_t c = 0; c < form.carried; ++c) {
    const Operand &formal = body.inputs[form.header + c], &entering = step.in[form.header + c];
    const Operand& leaving = body.outputs[form.body_header() + c];
    for (const std::size_t place : {c, places[c][0], places[c][1]}) verify_same(scope, formal, step.out[place]);
    const bool changes = changes_extents(step, form, c);
    must(!changes || (form.header != 0 && entering.at.space != Space::none && entering.dense && !entering.packed &&
                      entering.layout == backends::kPlain && entering.dtype == formal.dtype && leaving.dtype == formal.dtype &&
                      entering.dims.size() == formal.dims.size() && leaving.dims.size() == formal.dims.size()),
         "a body's binding is not what the step gives");
    if (!changes) {
      verify_same(scope, formal, entering);
      verify_same(scope, formal, leaving);
      continue;
    }
    for (const std::size_t place : places[c])
      must(step.out[place].at.space == Space::grown && step.out[place].at.offset == 0, "a place of carried value ", c,
           ", whose extents change, cannot grow");
    for (std::size_t d = 0; d < formal.dims.size(); ++d) {
      const DimIndex dim = formal.dims[d];
      if (entering.dims[d] == dim && leaving.dims[d] == dim) continue;
      const std::vector<std::int32_t>& symbols = scope.defined_by_steps[static_cast<std::size_t>(dim)];
      must(symbols.size() == 1 && dim_at(scope, dim).is_symbol() &&
               std::find(step.defines.begin(), step.defines.end(), symbols[0]) != step.defines.end(),
           "a carried value's extent ", dim_at(scope, dim).text(), " changes, and is no size that the loop defines");
      inside.insert(symbols[0]);
    }
  }
}

// What an iteration leaves to the next has memory from when its size is known: no step writes there before.
void verify_written_in_time(const VerifyScope& scope, const Program& body, Known known) {
  for (const Step& step : body.steps) {
    for (const Operand& o : step.out) {
      if (o.at.space != Space::binding) continue;
      for (DimIndex d : body.outputs[static_cast<std::size_t>(o.at.index) - body.inputs.size()].dims)
        for (std::int32_t symbol : scope.defined_by_steps[static_cast<std::size_t>(d)])
          must(known.count(symbol), "step '", step.name, "' writes a result of the body whose size is not known yet");
    }
    known.insert(step.defines.begin(), step.defines.end());
  }
}

}  // namespace

void verify_loop(const VerifyScope& scope, const Step& step, const Known& known) {
  const ir::Control control = scope.registry.get(step.op).traits.control;
  must(step.programs.size() == 1 && (control == ir::Control::loop || control == ir::Control::scan), "a loop has ", step.programs.size(),
       " programs");
  const Program& body = step.programs[0];
  const LoopForm form = verified_form(step);
  verify_frame(scope, step, body);
  if (form.header) {
    if (step.in[0].at.space != Space::none) verify_scalar(scope, step.in[0], DType::i64, "a loop's trip count");
    if (step.in[1].at.space != Space::none) verify_scalar(scope, step.in[1], DType::boolean, "a loop's condition");
    verify_scalar(scope, body.inputs[0], DType::i64, "the body's iteration");
    verify_scalar(scope, body.inputs[1], DType::boolean, "the body's condition");
    verify_scalar(scope, body.outputs[0], DType::boolean, "the body's condition");
  }
  Known inside = known;
  verify_carried(scope, step, form, inside);
  for (std::size_t i = form.header + form.carried; i < step.in.size(); ++i) {
    const bool sliced = i < form.header + form.carried + form.sliced;
    verify_same(scope, body.inputs[i], step.in[i], sliced ? 1 : 0);
    must(!sliced || (bits(step.in[i].dtype) % 8 == 0 && dim_at(scope, step.in[i].dims[0]) == dim_at(scope, step.in[form.carried].dims[0])),
         "operands are cut into different numbers of slices");
  }
  for (std::size_t s = 0; s < form.stacked; ++s) {
    const Operand& slice = body.outputs[form.body_header() + form.carried + s];
    verify_same(scope, slice, step.out[form.carried + s], 1);
    for (DimIndex d : slice.dims)   // else it could change from one iteration to the next
      for (std::int32_t symbol : scope.defined_by_steps[static_cast<std::size_t>(d)])
        must(known.count(symbol), "a stack has slices of a size that is not known before the loop runs");
    must(bits(step.out[form.carried + s].dtype) % 8 == 0, "a stack has slices of ", name(step.out[form.carried + s].dtype));
  }
  verify_program(scope, body, inside);
  verify_written_in_time(scope, body, inside);
}

void verify_order(const VerifyScope& scope, const Step& step, Known& known) {
  const auto need_dim = [&](DimIndex d) {
    for (std::int32_t s : scope.defined_by_steps[static_cast<std::size_t>(d)])
      must(known.count(s), "it uses the size '", scope.symbols[static_cast<std::size_t>(s)].text(), "', which no step before it defines");
  };
  const auto need = [&](const Operand& o) {
    if (o.at.space == Space::none) return;
    for (const auto* list : {&o.dims, &o.strides})
      for (DimIndex d : *list) need_dim(d);
    if (o.at.space == Space::grown) need_dim(scope.top.grown[static_cast<std::size_t>(o.at.index)]);
  };
  for (const Operand& o : step.in) need(o);
  if (step.workspace_dynamic >= 0) need_dim(scope.top.grown[static_cast<std::size_t>(step.workspace_dynamic)]);
  for (std::int32_t s : step.defines) {
    must(s >= static_cast<std::int32_t>(scope.input_symbols) && static_cast<std::size_t>(s) < scope.symbols.size(), "it defines symbol ",
         s);
    const ir::Dim symbol = scope.symbols[static_cast<std::size_t>(s)];
    bool found = false;
    for (const Operand& o : step.out)
      for (DimIndex d : o.dims) found = found || dim_at(scope, d) == symbol;
    must(found && known.insert(s).second, "it defines the size '", symbol.text(), "', which is known already, or is not that of a result");
  }
  for (const Operand& o : step.out) need(o);
}

}  // namespace tenfold::plan
