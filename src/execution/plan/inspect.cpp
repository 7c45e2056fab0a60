// The text form: what the plan is for, how large its memory is, and its steps.
#include "plan/inspect.h"

#include <cstdio>

#include "backends/device_traits.h"
#include "base/check.h"
#include "ir/op_def.h"
#include "plan/host_work.h"
#include "plan/step_types.h"
#include "plan/weight_forms.h"
#include "tenfold/internal/options_shown.h"

namespace tenfold::plan {
namespace {

std::string mebibytes(std::int64_t bytes) {
  char text[48];
  std::snprintf(text, sizeof text, "%.2f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

std::string config_text(const Step& step) {
  std::string out;
  for (std::int64_t n : step.config) out += cat(out.empty() ? "" : ",", n);
  return out;
}

// The model's names, in the order in which steps are told.
struct NameCursor {
  const Names& names;
  const ProgramNames* program;   // null: the plan keeps none
  std::size_t step = 0;
};

// What the model calls it, where that is not its name here.
std::string tensors_text(const Names& names, const ir::NameList& tensors, const std::string& name) {
  std::string text;
  for (const std::int32_t t : tensors)
    if (const std::string& own = names.table.tensors[static_cast<std::size_t>(t)]; own != name) text += (text.empty() ? "" : ", ") + own;
  return text.empty() ? "" : "  = " + text;
}

void add_operands(std::string& out, const Plan& plan, const Program& top, const Step& step, const NameCursor& cursor,
                  const std::string& indent) {
  std::size_t number = 0;
  for (const auto* list : {&step.in, &step.out})
    for (const Operand& o : *list) {
      out += cat(indent, list == &step.in ? "in   " : "out  ", type_text(top, o), "  ", place_text(plan, o), o.packed ? " packed" : "",
                 o.dense ? "" : " view", o.name.empty() ? "" : "  " + o.name);
      if (cursor.program) out += tensors_text(cursor.names, cursor.program->steps[cursor.step].operands[number], o.name);
      out += "\n", ++number;
    }
}

void add_removed(std::string& out, const NameCursor& cursor) {
  if (!cursor.program) return;
  std::map<std::string, ir::NameList> by;
  for (const ir::Removed& r : cursor.program->removed) ir::join(by[r.by], {r.node});
  for (const auto& [name, nodes] : by) out += cat("  no step of its own (", name, "): ", listed(cursor.names.table, nodes), "\n");
}

// What a GPU does not do alone.
void add_host_steps(std::string& out, const Plan& plan, const Program& top) {
  if (!backends::traits_of(plan.device).launches) return;
  const std::vector<HostStep> steps = host_steps(plan, top);
  out += cat("  on the host: ", steps.empty() ? std::string("nothing") : cat(steps.size(), " of ", count_steps(top), " steps"), "\n");
  for (const HostStep& s : steps) out += cat("    ", s.step->name, "  ", s.step->op, "  it ", s.work.does, ": ", s.work.why, "\n");
}

// Plug-ins' operators are none, so that the table of those built in will do.
bool is_region(const Step& step) {
  const ir::OpDef* def = ir::Registry::builtin().find(step.op);
  return def && def->traits.region;
}

// Of several profiles, which may need one weight in several forms.
void add_weight_forms(std::string& out, const Plan& plan) {
  if (plan.programs.size() < 2) return;
  for (const WeightForm& form : weight_forms(plan)) {
    out += cat("  ", mebibytes(form.bytes), form.kernels.empty() ? " not packed" : cat(" for ", form.kernels), "; by profile:");
    for (const std::int64_t bytes : form.by_profile) out += cat(" ", bytes == 0 ? "-" : mebibytes(bytes));
    out += "\n";
  }
}

std::string types_text(const Step& step) {
  const StepTypes types = types_of(step);
  if (!types.compute || !types.storage) return "";   // it only moves
  return cat("in ", name(*types.compute), types.sum ? cat(", sums in ", name(*types.sum)) : std::string(), ", gives ",
             name(*types.storage));
}

void add_steps(std::string& out, const Plan& plan, const Program& top, const Program& program, int detail, const std::string& indent,
               NameCursor& cursor) {
  int number = 0;
  for (const Step& step : program.steps) {
    if (program.precomputed > 0 && number == 0) out += cat(indent, "before the newest row:\n");
    if (program.precomputed > 0 && number == program.precomputed) out += cat(indent, "with the newest row:\n");
    out += cat(indent, number++, "  ", step.name, "  ", step.op, step.has_body && !is_region(step) ? "+body" : "", "  ",
               kind_text(step.kind));
    if (const auto work = host_work(plan, top, program, static_cast<std::size_t>(number - 1))) out += cat(", ", work->waits);
    if (step.kind == StepKind::kernel) out += cat(" ", step.tactic, " v", step.tactic_version, " [", config_text(step), "]");
    out += "\n";
    if (detail > 0) {
      if (!step.attributes.empty()) out += cat(indent, "     attributes ", ir::text(step.attributes), "\n");
      if (const std::string words = ir::text(step.numerics); !words.empty()) out += cat(indent, "     numerics ", words, "\n");
      if (const std::string words = types_text(step); !words.empty()) out += cat(indent, "     types ", words, "\n");
      if (step.has_body) out += cat(indent, "     body ", ir::text(step.body), "\n");
      if (cursor.program && !cursor.program->steps[cursor.step].nodes.empty())
        out += cat(indent, "     computes ", listed(cursor.names.table, cursor.program->steps[cursor.step].nodes), "\n");
      add_operands(out, plan, top, step, cursor, indent + "     ");
      if (step.workspace_dynamic >= 0) out += cat(indent, "     work in grown ", step.workspace_dynamic, "\n");
      if (step.workspace_bytes > 0) out += cat(indent, "     work ", step.workspace_bytes, " bytes at arena+", step.workspace_offset, "\n");
    }
    ++cursor.step;
    for (std::size_t i = 0; i < step.programs.size(); ++i) {
      out += cat(indent, "   ", step.kind == StepKind::branch ? (i == 0 ? "then" : "else") : "body", ":\n");
      add_steps(out, plan, top, step.programs[i], detail, indent + "     ", cursor);
    }
  }
}

}  // namespace

std::string type_text(const Program& top, const Operand& o) {
  if (o.at.space == Space::none) return "none";
  std::string dims;
  for (DimIndex d : o.dims) dims += (dims.empty() ? "" : ",") + top.dims.at(static_cast<std::size_t>(d)).text();
  if (o.at.space == Space::object && static_cast<std::size_t>(o.at.index) < top.objects.size())
    return ir::text(top.objects[static_cast<std::size_t>(o.at.index)]);
  return cat(name(o.dtype), "[", dims, "]", o.layout == backends::kPlain ? "" : "@" + backends::text(o.layout));
}

std::string place_text(const Plan& plan, const Operand& o) {
  const std::string moved = o.at.offset ? cat("+", o.at.offset) : "";
  const auto index = static_cast<std::size_t>(o.at.index);
  switch (o.at.space) {
    case Space::none: return "-";
    case Space::weights:
      return cat("constant ", o.at.index, index < plan.constants.size() ? " '" + plan.constants[index].name + "'" : "", moved);
    case Space::arena: return cat("arena+", o.at.offset);
    case Space::binding: return cat("binding ", o.at.index, moved);
    case Space::grown: return cat("grown ", o.at.index, moved);
    case Space::object: return cat("object ", o.at.index);
    case Space::literal: return cat("literal ", o.at.index);
    case Space::count_: break;
  }
  return "?";
}

std::string_view kind_text(StepKind kind) {
  switch (kind) {
    case StepKind::kernel: return "kernel";
    case StepKind::host: return "reference";
    case StepKind::copy: return "copy";
    case StepKind::branch: return "branch";
    case StepKind::loop: return "loop";
    case StepKind::count_: break;
  }
  return "?";
}

std::string clocks_text(const std::vector<backends::Clock>& clocks) {
  std::string out;
  for (const backends::Clock& c : clocks) {
    char ghz[32];
    std::snprintf(ghz, sizeof ghz, "%.2f GHz", static_cast<double>(c.khz) / 1e6);
    out += cat(out.empty() ? "" : ", ", c.of, " at ", ghz);
  }
  return out;
}

std::string inspect_text(const Plan& plan, int detail) {
  std::string out =
      cat("plan of ", plan.model_name.empty() ? "a network" : plan.model_name, ", built by ", plan.builder, "\ndevice   ", plan.device.name,
          " (", plan.device.kind, "; needs ", plan.needs ? backends::feature_text(plan.needs) : "nothing special", ")\nweights  ",
          mebibytes(plan.weights_bytes), " in ", plan.constants.size(), " constants\n");
  add_weight_forms(out, plan);
  if (backends::traits_of(plan.device).host_arithmetic)
    out += cat("denormal ", plan.keeps_denormals ? "numbers are kept\n" : "numbers are flushed to zero\n");
  if (!plan.built.model_hash.empty()) out += cat("model    ", plan.built.model_hash, " (bytes, XXH3)\n");
  if (!plan.built.options.empty()) out += cat("options  ", options_shown(plan.built.options), "\n");
  if (!plan.built.clocks.empty()) out += cat("timed    with ", clocks_text(plan.built.clocks), "\n");
  for (const Binding& b : plan.bindings)
    out +=
        cat(b.is_input ? "input    " : "output   ", b.name, "  ", ir::text(b.type), b.default_constant >= 0 ? "  has a default\n" : "\n");
  for (const StatePair& s : plan.states) out += cat("state    output ", s.output, " continues input ", s.input, "\n");
  if (!plan.portable.empty()) out += cat("portable graph of ", plan.portable.size(), " bytes: the plan can be tuned again elsewhere\n");
  const Names names = detail > 0 ? read_names(plan) : Names{};
  for (std::size_t p = 0; p < plan.programs.size(); ++p) {
    const Program& program = plan.programs[p];
    out += cat("program ", p, ":");
    for (const Range& r : program.box) out += cat(" ", r.symbol, "=", r.min, "..", r.max, " (tuned at ", r.opt, ")");
    out += cat(" ", program.steps.size(), " steps, arena ", mebibytes(program.arena_bytes), ", largest live sum ",
               mebibytes(program.arena_live_bytes), "\n");
    for (std::size_t g = 0; g < program.grown.size(); ++g)
      out +=
          cat("  grown ", g, " has ", program.dims.at(static_cast<std::size_t>(program.grown[g])).text(), " bytes, allocated in the run\n");
    NameCursor cursor{names, names.programs.empty() ? nullptr : &names.programs[p]};
    add_host_steps(out, plan, program);
    if (detail >= 0) add_steps(out, plan, program, program, detail, "  ", cursor);
    if (detail > 0) add_removed(out, cursor);
  }
  return out;
}

}  // namespace tenfold::plan
