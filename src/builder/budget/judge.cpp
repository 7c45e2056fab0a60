#include "builder/budget/judge.h"

#include <cmath>
#include <limits>

#include "builder/model/profiles.h"
#include "builder/precision/observed_runs.h"
#include "builder/precision/samples.h"
#include "tenfold/bindings.h"

namespace tenfold::builder {
namespace {

struct Answered {
  InputSet sample;
  std::vector<RuntimeValue> wanted;
};

bool is_judged(const RuntimeValue& v) { return v.is_tensor() && is_float(v.tensor().dtype()) && v.tensor().size() > 0; }

// An answer of another shape is as far off as can be.
quant::SampleError difference(const quant::Metric& metric, const RuntimeValue& got, const Tensor& want) {
  if (!got.is_tensor() || got.tensor().shape() != want.shape()) return {std::numeric_limits<double>::infinity(), 1};
  return metric.of_sample(got.tensor(), want);
}

}  // namespace

struct Judge::Impl {
  const ErrorBudget& budget;
  const quant::Metric& metric;
  std::vector<Answered> answered;
  std::vector<double> bounds;  // by output

  // NaN is no error that any bound allows.
  Judged of_output(const std::vector<quant::SampleError>& errors, double bound) const {
    const quant::Estimate e = quant::estimate(metric, errors);
    const auto share = [bound](double x) { return std::isnan(x) ? std::numeric_limits<double>::infinity() : x / bound; };
    return {share(e.value), share(e.low), share(e.high)};
  }
};

Judge::Judge(const ir::Graph& source, const BuildConfig& config, int first, int most)
    : impl_(new Impl{*config.budget, quant::metric(config.budget->metric), {}, {}}) {
  for (const ir::Value* v : source.outputs) {
    const auto own = impl_->budget.outputs.find(v->name);
    impl_->bounds.push_back(own == impl_->budget.outputs.end() ? impl_->budget.max_error : own->second);
  }
  const std::vector<plan::Range> ranges = symbol_ranges(source, profiles_of(config).front(), {});
  ir::Graph graph = source.clone();
  specialise(graph, ranges);
  lower_for_kernels(graph);
  ObservedRuns floats(std::move(graph), ranges, config);
  for_each_sample(*config.calibration, first, [&](const InputSet& sample) {
    if (samples() < most) impl_->answered.push_back({sample, floats.run(sample)});
  });
}
Judge::~Judge() = default;

int Judge::samples() const { return static_cast<int>(impl_->answered.size()); }

Judged Judge::judge(const Engine& engine) const {
  const auto context = engine.create_context();
  std::vector<std::string> inputs;
  for (const BindingInfo& b : engine.bindings())
    if (b.is_input) inputs.push_back(b.name);
  return judge([&](const InputSet& sample) { return run_values(*context, in_order(sample, inputs)); });
}

Judged Judge::judge(const std::function<std::vector<RuntimeValue>(const InputSet&)>& run) const {
  std::vector<std::vector<quant::SampleError>> errors(impl_->bounds.size());
  for (const Answered& one : impl_->answered) {
    const std::vector<RuntimeValue> got = run(one.sample);
    for (std::size_t o = 0; o < errors.size(); ++o)
      if (is_judged(one.wanted.at(o))) errors[o].push_back(difference(impl_->metric, got.at(o), one.wanted[o].tensor()));
  }
  Judged worst;
  for (std::size_t o = 0; o < errors.size(); ++o)
    if (!errors[o].empty())
      if (const Judged one = impl_->of_output(errors[o], impl_->bounds[o]); one.share >= worst.share) worst = one;
  return worst;
}

}  // namespace tenfold::builder
