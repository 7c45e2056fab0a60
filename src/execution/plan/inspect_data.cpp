// The plan as data for callers: names and texts in place of indices.
#include <set>

#include "base/check.h"
#include "ir/op_def.h"
#include "plan/inspect.h"

namespace tenfold::plan {
namespace {

PlanOperand operand_data(const Plan& plan, const Program& top, const Operand& o) {
  PlanOperand data{.name = o.name, .place = place_text(plan, o)};
  if (o.at.space == Space::none) return data;
  data.dtype = o.dtype, data.layout = backends::text(o.layout);
  data.constant = o.constant, data.packed = o.packed, data.dense = o.dense;
  for (DimIndex d : o.dims) {
    const ir::Dim dim = top.dims.at(static_cast<std::size_t>(d));
    data.shape.push_back(dim.is_constant() ? dim.constant() : -1);
    data.dims_text += (data.dims_text.empty() ? "" : ",") + dim.text();
  }
  if (o.at.space == Space::weights) data.bytes = plan.constants.at(static_cast<std::size_t>(o.at.index)).bytes;
  return data;
}

void add_steps(std::vector<PlanStep>& list, const Plan& plan, const Program& top, const Program& program, int parent, int part) {
  for (const Step& step : program.steps) {
    PlanStep data{.name = step.name, .op = step.op, .kind = std::string(kind_text(step.kind)), .parent = parent, .part = part};
    if (step.kind == StepKind::kernel) data.tactic = step.tactic, data.tactic_version = step.tactic_version, data.config = step.config;
    if (!step.attributes.empty()) data.attributes = ir::text(step.attributes);
    if (step.has_body) data.body = ir::text(step.body);
    for (const Operand& o : step.in) data.inputs.push_back(operand_data(plan, top, o));
    for (const Operand& o : step.out) data.outputs.push_back(operand_data(plan, top, o));
    data.workspace_bytes = step.workspace_bytes;
    const int self = static_cast<int>(list.size());
    list.push_back(std::move(data));
    for (std::size_t i = 0; i < step.programs.size(); ++i) add_steps(list, plan, top, step.programs[i], self, static_cast<int>(i));
  }
}

void add_foreign(std::set<std::string>& foreign, const Program& program) {
  for (const Step& step : program.steps) {
    if (!step.op.empty() && !ir::Registry::builtin().find(step.op)) foreign.insert(step.op);
    for (const Program& nested : step.programs) add_foreign(foreign, nested);
  }
}

}  // namespace

PlanInspection inspect_data(const Plan& plan) {
  PlanInspection data{.model_name = plan.model_name,
                      .builder = plan.builder,
                      .device = plan.device.name,
                      .device_kind = plan.device.kind,
                      .needs = backends::feature_text(plan.needs),
                      .weight_bytes = plan.weights_bytes,
                      .constants = static_cast<int>(plan.constants.size()),
                      .portable = !plan.portable.empty(),
                      .labels = plan.labels,
                      .model_hash = plan.built.model_hash,
                      .build_options = plan.built.options};
  for (const backends::Clock& c : plan.built.clocks) data.clocks.push_back({c.of, c.khz});
  std::set<std::string> foreign;
  for (const Program& program : plan.programs) add_foreign(foreign, program);
  data.plugin_operators.assign(foreign.begin(), foreign.end());
  const Names names = read_names(plan);
  for (const Program& program : plan.programs) {
    PlanProgram& out = data.programs.emplace_back();
    for (const Range& r : program.box) out.ranges.push_back({r.symbol, r.min, r.opt, r.max});
    out.arena_bytes = program.arena_bytes, out.arena_live_bytes = program.arena_live_bytes;
    add_steps(out.steps, plan, program, program, -1, 0);
    if (!names.programs.empty()) add_names(out, names, names.programs[data.programs.size() - 1]);
  }
  return data;
}

}  // namespace tenfold::plan
