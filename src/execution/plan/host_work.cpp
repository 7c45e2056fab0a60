// Whom the steps of a plan for a GPU wait for, in words for users.
#include "plan/host_work.h"

#include <algorithm>

#include "backends/device_traits.h"
#include "base/check.h"
#include "ir/op_def.h"
#include "plan/host_prologue.h"
#include "plan/loop_form.h"

namespace tenfold::plan {
namespace {

bool touches_objects(const Step& step) {
  const auto object = [](const Operand& o) { return o.at.space == Space::object || o.at.space == Space::literal; };
  return std::any_of(step.in.begin(), step.in.end(), object) || std::any_of(step.out.begin(), step.out.end(), object);
}

std::string types_of_operands(const Step& step) {
  std::string types;
  for (const Operand& o : step.in)
    if (o.at.space != Space::none) types += cat(types.empty() ? "" : ", ", name(o.dtype));
  return types;
}

// Plug-ins' operators are not in the table of those built in.
std::string why_computed(const Step& step) {
  if (step.attributes.has("graphs"))
    return touches_objects(step) ? "its bodies hold strings, sequences or tensors of unknown rank, which a GPU has not"
                                 : "its bodies give results whose sizes are known only behind it, or hold values that no program can";
  const ir::OpDef* def = ir::Registry::builtin().find(step.op);
  if (def && !def->on_host.empty()) return def->on_host;
  if (touches_objects(step)) return "it has strings, sequences, optionals or maps, which a GPU has not";
  if (!def) return "its plug-in has no kernel for GPUs that takes these operands";
  if (!step.defines.empty()) return "the host needs the size of the result";
  return cat("no kernel for GPUs takes these operands (", types_of_operands(step), ")");
}

}  // namespace

std::optional<HostWork> host_work(const Plan& plan, const Program& top, const Program& program, std::size_t number) {
  if (!backends::traits_of(plan.device).launches) return {};
  const Step& step = program.steps[number];
  switch (step.kind) {
    case StepKind::host:
      if (&program == &top && number < prologue_steps(top))
        return HostWork{"computes it", why_computed(step), "before the GPU begins if its inputs lie on the host"};
      return HostWork{"computes it", why_computed(step), "operands and results copied"};
    case StepKind::branch:
      return HostWork{"decides", "the GPU takes no branch by itself", "condition copied, the host decides"};
    case StepKind::loop:
      if (runs_by_slices(step.attributes))
        return HostWork{"counts", "the GPU repeats nothing by itself", "the host counts"};
      return HostWork{"decides", "the GPU repeats nothing by itself",
                      "condition copied after each iteration, the host decides"};
    case StepKind::kernel:
    case StepKind::copy:
    case StepKind::count_: break;
  }
  return {};
}

namespace {
void add(const Plan& plan, const Program& top, const Program& program, std::vector<HostStep>& list) {
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    if (std::optional<HostWork> work = host_work(plan, top, program, s)) list.push_back({&program.steps[s], std::move(*work)});
    for (const Program& body : program.steps[s].programs) add(plan, top, body, list);
  }
}
}  // namespace

std::vector<HostStep> host_steps(const Plan& plan, const Program& top) {
  std::vector<HostStep> list;
  add(plan, top, top, list);
  return list;
}

std::size_t count_steps(const Program& program) {
  std::size_t count = program.steps.size();
  for (const Step& step : program.steps)
    for (const Program& body : step.programs) count += count_steps(body);
  return count;
}

}  // namespace tenfold::plan
