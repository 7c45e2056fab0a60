// Error budgets from C, and what a search within one did.
#include "c/build/builder.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_answers {
  std::span<const OutputSet> by_sample;
};

extern "C" std::int32_t tenfold_answers_samples(const tenfold_answers* answers) {
  return answers ? static_cast<std::int32_t>(answers->by_sample.size()) : 0;
}
extern "C" tenfold_status tenfold_answers_output(const tenfold_answers* answers, int32_t sample, const char* output, tenfold_data** made) {
  return guarded([&] {
    const OutputSet& set = element(need(answers, "the answers").by_sample, sample, "sample");
    const auto at = set.find(&need(output, "the output's name"));
    require(at != set.end(), ErrorKind::invalid_argument, "there is no output '", output, "' that is a tensor");
    place(made, "the place for the data", [&] { return new tenfold_data{at->second}; });
  });
}

ErrorBudget tenfold::c::budget_of(const tenfold_error_budget* given) {
  const tenfold_error_budget c = taken(given, "the error budget");
  ErrorBudget budget;
  budget.max_error = c.max_error;
  if (c.output_count > 0) need(c.outputs, "outputs");
  for (std::int32_t i = 0; i < c.output_count; ++i) budget.outputs[&need(c.outputs[i].output, "an output's name")] = c.outputs[i].max_error;
  if (c.metric) budget.metric = c.metric;
  if (c.search_seconds != 0) budget.search_seconds = c.search_seconds;
  if (c.search_memory != 0) budget.search_memory = c.search_memory;
  if (c.label_count > 0) budget.labels.assign(&need(c.labels, "labels"), c.labels + c.label_count);
  if (c.measure)
    budget.measure = [measure = c.measure, user = c.measure_user](std::span<const OutputSet> reference,
                                                                  std::span<const OutputSet> candidate) {
      const tenfold_answers expected{reference}, got{candidate};
      double error = 0;
      if (measure(user, &expected, &got, &error) != 0) fail(ErrorKind::cancelled, "the budget's function ended the build");
      return error;
    };
  return budget;
}

namespace {
const BudgetReport& budget_report(const tenfold_report* report) { return part_of(report, &BuildReport::budget, "error budget"); }
}  // namespace

extern "C" tenfold_status tenfold_report_budget(const tenfold_report* report, tenfold_budget_info* info) {
  return guarded([&] {
    const BudgetReport& reported = budget_report(report);
    give(info,
         {0, static_cast<std::int32_t>(reported.plans.size()), static_cast<std::int32_t>(reported.layers.size()), reported.samples,
          reported.met, reported.out_of_time, reported.seconds},
         "the place for the information");
  });
}
extern "C" tenfold_status tenfold_report_budget_plan(const tenfold_report* report, int32_t index, tenfold_budget_plan* plan) {
  return guarded([&] {
    const BudgetPlan& p = element(budget_report(report).plans, index, "plan");
    give(plan, {0, p.name.c_str(), p.error, p.low, p.high, p.milliseconds, p.weight_bytes, p.within, p.taken, p.tuned_milliseconds},
         "the place for the plan");
  });
}
extern "C" tenfold_status tenfold_report_budget_layer(const tenfold_report* report, int32_t index, tenfold_budget_layer* layer) {
  return guarded([&] {
    const BudgetLayer& l = element(budget_report(report).layers, index, "layer");
    give(layer, {0, l.layer.c_str(), l.op.c_str(), l.error, l.saved_milliseconds, l.wide, name(l.type).data(), l.advice.c_str()},
         "the place for the layer");
  });
}
extern "C" tenfold_status tenfold_report_budget_work(const tenfold_report* report, int32_t plan, const char* dtype, double* share) {
  return guarded([&] {
    const BudgetPlan& p = element(budget_report(report).plans, plan, "plan");
    const std::optional<DType> type = dtype_from_name(&need(dtype, "the type's name"));
    require(type.has_value(), ErrorKind::invalid_argument, "there is no type '", dtype, "'");
    const auto at = p.work.find(*type);
    need(share, "the place for the share") = at == p.work.end() ? 0 : at->second;
  });
}
