// Error budgets from C, and what a search within one did.
#include "api_build/c_builder.h"

using namespace tenfold;
using namespace tenfold::c;

ErrorBudget tenfold::c::budget_of(const tenfold_error_budget* given) {
  const tenfold_error_budget c = taken(given, "the error budget");
  ErrorBudget budget;
  budget.max_error = c.max_error;
  if (c.output_count > 0) need(c.outputs, "outputs");
  for (std::int32_t i = 0; i < c.output_count; ++i) budget.outputs[&need(c.outputs[i].output, "an output's name")] = c.outputs[i].max_error;
  if (c.metric) budget.metric = c.metric;
  if (c.search_seconds != 0) budget.search_seconds = c.search_seconds;
  return budget;
}

namespace {
const BudgetReport& told_by(const tenfold_report* report) {
  const std::optional<BudgetReport>& told = need(report, "the report").report.budget;
  require(told.has_value(), ErrorKind::invalid_argument, "the report tells of no error budget");
  return *told;
}
}  // namespace

extern "C" tenfold_status tenfold_report_budget(const tenfold_report* report, tenfold_budget_info* info) {
  return guarded([&] {
    const BudgetReport& told = told_by(report);
    give(info,
         {0, static_cast<std::int32_t>(told.plans.size()), static_cast<std::int32_t>(told.layers.size()), told.samples, told.met,
          told.out_of_time, told.seconds},
         "the place for the information");
  });
}
extern "C" tenfold_status tenfold_report_budget_plan(const tenfold_report* report, int32_t index, tenfold_budget_plan* plan) {
  return guarded([&] {
    const BudgetPlan& p = element(told_by(report).plans, index, "plan");
    give(plan, {0, p.name.c_str(), p.error, p.low, p.high, p.milliseconds, p.weight_bytes, p.within, p.taken}, "the place for the plan");
  });
}
extern "C" tenfold_status tenfold_report_budget_layer(const tenfold_report* report, int32_t index, tenfold_budget_layer* layer) {
  return guarded([&] {
    const BudgetLayer& l = element(told_by(report).layers, index, "layer");
    give(layer, {0, l.layer.c_str(), l.op.c_str(), l.error, l.saved_milliseconds, l.wide}, "the place for the layer");
  });
}
