#include "case_plans.h"

#include <algorithm>

#include "builder/builder.h"
#include "ops/cases.h"
#include "passes/pipeline.h"
#include "runtime/engine/opened.h"

namespace tenfold::tests {
namespace {

bool has_step(const plan::Program& program, const std::string& op) {
  return std::any_of(program.steps.begin(), program.steps.end(), [&](const plan::Step& step) {
    return step.op == op || std::any_of(step.programs.begin(), step.programs.end(), [&](const auto& body) { return has_step(body, op); });
  });
}

}  // namespace

std::vector<CasePlan> case_plans(int max, std::vector<std::string>& left_out) {
  BuildConfig config;
  const std::set<std::string> passes = passes::pass_names();
  config.optimization_level = 0, config.threads = 1, config.disabled_passes.assign(passes.begin(), passes.end());
  std::vector<CasePlan> plans;
  for (const ir::OpDef* def : ir::Registry::builtin().all()) {
    int made = 0;
    for (const std::string& text : def->cases) {
      if (made == max) break;
      try {
        const ops::Case c = ops::parse_case(*def, text);
        const Engine engine = builder::build_graph(ops::case_graph(ir::Registry::builtin(), *def, c), config);
        const plan::Plan& plan = runtime::state_of(engine)->plan;
        if (!has_step(plan.programs.at(0), def->name)) continue;
        plans.push_back({cat(def->name, " ", text), def->name, plan}), ++made;
      } catch (const Error& e) {
        if (e.kind() == ErrorKind::internal) throw;
      }
    }
    if (made == 0) left_out.push_back(def->name);
  }
  return plans;
}

}  // namespace tenfold::tests
