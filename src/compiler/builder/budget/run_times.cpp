#include "builder/budget/run_times.h"

#include <algorithm>
#include <chrono>

#include "builder/precision/observed_runs.h"
#include "builder/stopwatch.h"
#include "tenfold/bindings.h"

namespace tenfold::builder {

RunTimes::RunTimes(const Engine& engine, const InputSet& sample) : context_(engine.create_context()) {
  std::vector<std::string> names;
  for (const BindingInfo& b : engine.bindings())
    if (b.is_input) names.push_back(b.name);
  inputs_ = in_order(sample, names);
  run_values(*context_, inputs_);
}

void RunTimes::run_for(double seconds) {
  constexpr int kMaxRuns = 1000;
  double sum = 0;
  int runs = 0;
  do {
    Stopwatch watch;
    run_values(*context_, inputs_);
    taken_.push_back(watch.seconds());
    sum += taken_.back();
  } while (sum < seconds && ++runs < kMaxRuns);
}

double RunTimes::milliseconds() const {
  std::vector<double> sorted = taken_;
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? -1 : sorted[sorted.size() / 2] * 1e3;
}

}  // namespace tenfold::builder
