#include "builder/budget/expect_budget.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "quant/metric.h"

namespace tenfold::builder {

void expect_budget(const ir::Graph& source, const BuildConfig& config) {
  const ErrorBudget& budget = *config.budget;
  const quant::Metric& metric = quant::metric(budget.metric);
  require(budget.labels.empty() || budget.measure || metric.name == "top1" || metric.name == "top5", ErrorKind::invalid_argument,
          "ErrorBudget::labels are for the metrics top1 and top5, not for ", budget.metric);
  require(budget.search_memory >= 0, ErrorKind::invalid_argument, "ErrorBudget::search_memory is ", budget.search_memory);
  const auto check_bound = [](const std::string& what, double bound) {
    require(bound > 0 && std::isfinite(bound), ErrorKind::invalid_argument, what, " is ", bound, ", a number above 0 is needed");
  };
  check_bound("ErrorBudget::max_error", budget.max_error);
  for (const auto& [output, bound] : budget.outputs) {
    check_bound("ErrorBudget::outputs, '" + output + "',", bound);
    const auto is_it = [&name = output](const ir::Value* v) { return v->name == name; };
    require(std::any_of(source.outputs.begin(), source.outputs.end(), is_it), ErrorKind::invalid_argument,
            "ErrorBudget::outputs: the model has no output '", output, "'");
  }
  require(config.calibration && config.calibration->sample, ErrorKind::invalid_argument,
          "an error budget needs data that shows the error: Calibration::sample (--data=PATH)");
}

}  // namespace tenfold::builder
