// What is to be told of an opened plan: the steps that run on reference kernels.
#include "runtime/engine/notes.h"

#include <algorithm>

#include "base/log.h"
#include "plan/host_prologue.h"
#include "runtime/engine/opened.h"

namespace tenfold::runtime {
namespace {

constexpr std::string_view kRuns = "runs on the reference kernel of ";

// An extent of 0: nothing is computed.
bool is_empty(const plan::Step& step, const plan::Program& top) {
  return !step.out.empty() && std::all_of(step.out.begin(), step.out.end(), [&](const plan::Operand& o) {
    return std::any_of(o.dims.begin(), o.dims.end(), [&](plan::DimIndex d) { return top.dims[static_cast<std::size_t>(d)] == ir::Dim(0); });
  });
}

void add_notes(EngineState& engine, const plan::Program& top, const plan::Program& program) {
  const std::size_t front = &program == &top ? plan::prologue_steps(program) : 0;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const plan::Step& step = program.steps[s];
    for (const plan::Program& nested : step.programs) add_notes(engine, top, nested);
    if (step.kind != plan::StepKind::host || is_empty(step, top)) continue;
    const ir::OpDef* def = engine.registry->find(step.op);
    const bool others = def && !engine.tactics.of(*def).empty();
    const bool staged = is_staged(engine), first = staged && s < front;
    Note note{others || (staged && !first) ? Severity::warning : Severity::info, NoteKind::reference_kernel, step.name, ""};
    note.text = cat("step '", step.name, "' (", step.op, ") ", kRuns, step.op,
                    others ? ", on one thread: none of the faster kernels was chosen for it" : ", on one thread: it has no other",
                    first    ? "; it comes before all that the device does"
                    : staged ? "; its operands go to the host and back in every run"
                             : "");
    std::vector<Note>& notes = engine.info.notes;
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));   // other profiles have it, too
  }
}

}  // namespace

void note_reference_steps(EngineState& engine) {
  for (const plan::Program& program : engine.plan.programs) add_notes(engine, program, program);
}

namespace {
std::string ghz(std::int64_t khz) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GHz", static_cast<double>(khz) / 1e6);
  return text;
}
}  // namespace

void note_clocks(EngineState& engine, std::span<const backends::Clock> now) {
  constexpr double kApart = 0.1;
  for (const backends::Clock& then : engine.plan.built.clocks)
    for (const backends::Clock& c : now)
      if (c.of == then.of && then.khz > 0 && std::abs(static_cast<double>(c.khz - then.khz)) > kApart * static_cast<double>(then.khz))
        engine.info.notes.push_back({Severity::info, NoteKind::clocks, "",
                                     cat("the plan was timed with the ", c.of, " at ", ghz(then.khz), ", which runs at ", ghz(c.khz),
                                         " now: other kernels may be the fastest (--retune chooses anew)")});
}

void log_notes(std::span<const Note> notes, const LogCallback& callback) {
  const Log log(callback);
  constexpr int kNamed = 5;
  int count = 0;
  Severity severity = Severity::info;
  std::string names;
  for (const Note& note : notes) {
    if (note.kind == NoteKind::clocks) log(note.severity, note.text);
    if (note.kind != NoteKind::reference_kernel) continue;
    severity = std::max(severity, note.severity);
    if (++count <= kNamed) names += cat(count > 1 ? ", " : "", note.text.substr(5, note.text.find(kRuns) - 6));   // 'name' (operator)
  }
  if (count > 0)
    log(severity, count, count == 1 ? " step runs on a reference kernel: " : " steps run on reference kernels: ", names,
        count > kNamed ? cat(" and ", count - kNamed, count == kNamed + 1 ? " other" : " others") : "");
}

}  // namespace tenfold::runtime
