#include "builder/in_model/model_runs.h"

#include <algorithm>
#include <tuple>

#include "builder/example_inputs.h"
#include "builder/precision/observed_runs.h"
#include "builder/program/assemble.h"
#include "builder/rebuild/load_options.h"
#include "builder/stopwatch.h"
#include "runtime/engine/open.h"
#include "tenfold/bindings.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold::builder {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Trial {
 public:
  Trial(const ir::Graph& graph, const tune::Choice& choice, plan::Plan plan, const std::vector<plan::Range>& ranges,
        const BuildConfig& config, const std::shared_ptr<backends::Backend>& backend)
      : engine_(opened(graph, choice, std::move(plan), ranges, config, backend)), context_(engine_.create_context()) {
    std::vector<std::string> names;
    for (const BindingInfo& b : engine_.bindings())
      if (b.is_input) names.push_back(b.name);
    inputs_ = in_order(example_inputs(engine_, config), names);
  }
  // Nanoseconds of a run.
  double run() {
    throw_if_cancelled();
    Stopwatch watch;
    run_values(*context_, inputs_);
    return 1e9 * watch.seconds();
  }
  ModelRuns::StepTimes run_steps() {
    ModelRuns::StepTimes times;
    context_->set_profiler([&times](std::string_view step, double milliseconds) { times[std::string(step)] += 1e6 * milliseconds; });
    run();
    context_->set_profiler(nullptr);
    return times;
  }

 private:
  static Engine opened(const ir::Graph& graph, const tune::Choice& choice, plan::Plan plan, const std::vector<plan::Range>& ranges,
                       const BuildConfig& config, const std::shared_ptr<backends::Backend>& backend) {
    ConstantPool constants;
    std::vector<plan::Range> open;
    for (const plan::Range& r : ranges)
      if (r.min != r.max) open.push_back(r);
    plan.programs.push_back(assemble(graph, choice, constants, {open, backend.get()}, plan.needs));
    constants.move_into(plan);
    return runtime::engine_of(runtime::open_engine(std::move(plan), load_options(config), backend));
  }
  Engine engine_;
  std::unique_ptr<ExecutionContext> context_;
  std::vector<RuntimeValue> inputs_;
};

// Two engines take turns, for `kSeconds` or a few turns of long runs; `measure` is asked of each in each turn.
template <class Measure>
auto in_turns(Trial& first, Trial& second, Measure measure) {
  constexpr int kMinTurns = 7, kMaxTurns = 61;
  constexpr double kSeconds = 0.3, kLongNs = 5e7;
  const bool long_runs = first.run() + second.run() > kLongNs;   // need no run that fills the caches first
  std::vector<std::pair<decltype(measure(first)), decltype(measure(first))>> all;
  Stopwatch watch;
  double seconds = 0;
  for (int turn = 0; turn < kMinTurns || (turn < kMaxTurns && seconds < kSeconds); ++turn) {
    auto& [of_first, of_second] = all.emplace_back();
    for (const bool is_first : {turn % 2 == 0, turn % 2 != 0}) {
      Trial& one = is_first ? first : second;
      if (!long_runs) one.run();
      (is_first ? of_first : of_second) = measure(one);
    }
    seconds += watch.seconds();
  }
  return all;
}

// Ratios within a turn do not see how fast the machine is meanwhile.
std::pair<double, double> medians(const std::vector<std::pair<double, double>>& turns) {
  std::vector<double> first, ratio;
  for (const auto& [a, b] : turns) first.push_back(a), ratio.push_back(b / std::max(a, 1.0));
  const double middle = median(std::move(first));
  return {middle, middle * median(std::move(ratio))};
}

}  // namespace

ModelRuns runs_in_turns(const ir::Graph& graph, const plan::Plan& base, const std::vector<plan::Range>& ranges, const BuildConfig& config,
                        const std::shared_ptr<backends::Backend>& backend) {
  const auto trial = [&graph, &base, &ranges, &config, &backend](const tune::Choice& choice) {
    return Trial(graph, choice, base, ranges, config, backend);
  };
  const auto steps = [trial](const tune::Choice& a, const tune::Choice& b) {
    Trial first = trial(a), second = trial(b);
    const auto turns = in_turns(first, second, [](Trial& one) { return one.run_steps(); });
    std::pair<ModelRuns::StepTimes, ModelRuns::StepTimes> times;
    for (const auto& [step, ns] : turns[0].first) {
      std::vector<std::pair<double, double>> of_step;
      for (const auto& [of_first, of_second] : turns)
        if (of_first.count(step) && of_second.count(step)) of_step.emplace_back(of_first.at(step), of_second.at(step));
      if (of_step.size() == turns.size()) std::tie(times.first[step], times.second[step]) = medians(of_step);
    }
    return times;
  };
  const auto whole = [trial](const tune::Choice& a, const tune::Choice& b) {
    Trial first = trial(a), second = trial(b);
    return medians(in_turns(first, second, [](Trial& one) { return one.run(); }));
  };
  return {steps, whole};
}

}  // namespace tenfold::builder
