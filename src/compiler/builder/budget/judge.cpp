#include "builder/budget/judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "builder/model/profiles.h"
#include "builder/precision/observed_runs.h"
#include "builder/precision/odd_answers.h"
#include "builder/precision/samples.h"
#include "tenfold/bindings.h"

namespace tenfold::builder {
namespace {

struct Answered {
  int index = 0;   // of the sample
  InputSet sample;
  std::vector<RuntimeValue> requested;
};
using Answers = std::vector<std::vector<RuntimeValue>>;   // by sample, then by output

bool is_judged(const RuntimeValue& v) { return v.is_tensor() && is_float(v.tensor().dtype()) && v.tensor().size() > 0; }

bool gives_classes(const Tensor& t) { return (t.shape().size() == 1 || t.shape().size() == 2) && t.shape().back() > 1; }

}  // namespace

struct Judge::Impl {
  const ErrorBudget& budget;
  const quant::Metric& metric;
  GoOn go_on;
  std::vector<std::string> outputs;
  std::vector<double> bounds;  // by output
  std::vector<Answered> answered;

  void report_progress(int done, int total) const {
    if (go_on) go_on(done, total);
  }
  Judged judge(const Answers& got) const {
    if (budget.measure) return by_callers_measure(got);
    Judged worst{-std::numeric_limits<double>::infinity(), 0, 0};
    bool any = false;
    const std::size_t labeled = output_of_labels();
    for (std::size_t o = 0; o < bounds.size(); ++o) {
      const std::vector<quant::SampleError> errors = errors_of(got, o, o == labeled);
      if (errors.empty()) continue;
      const Judged one = share_of(errors, bounds[o]);
      if (!any || one.share >= worst.share) worst = one;
      any = true;
    }
    return any ? worst : Judged{};
  }

 private:
  std::vector<quant::SampleError> errors_of(const Answers& got, std::size_t output, bool labeled) const {
    std::vector<quant::SampleError> errors;
    for (std::size_t s = 0; s < answered.size(); ++s) {
      const RuntimeValue& expected = answered[s].requested.at(output);
      if (!is_judged(expected)) continue;
      const RuntimeValue& answer = got[s].at(output);
      // An answer of another shape is as far off as can be.
      if (!answer.is_tensor() || answer.tensor().shape() != expected.tensor().shape())
        errors.push_back({std::numeric_limits<double>::infinity(), 1});
      else if (labeled) errors.push_back(accuracy_lost(answer.tensor(), expected.tensor(), answered[s].index));
      else errors.push_back(metric.of_sample(answer.tensor(), expected.tensor()));
    }
    return errors;
  }
  // The first output of classes; none without labels.
  std::size_t output_of_labels() const {
    for (std::size_t o = 0; !budget.labels.empty() && o < bounds.size(); ++o)
      if (is_judged(answered.front().requested.at(o)) && gives_classes(answered.front().requested[o].tensor())) return o;
    return bounds.size();
  }
  // Rows of a batch are labeled one after the other.
  quant::SampleError accuracy_lost(const Tensor& got, const Tensor& expected, int index) const {
    const quant::Rows rows(expected);
    quant::SampleError lost;
    for (std::int64_t r = 0; r < rows.count; ++r) {
      const auto at = static_cast<std::size_t>(index * rows.count + r);
      require(at < budget.labels.size(), ErrorKind::invalid_argument, "ErrorBudget::labels has ", budget.labels.size(),
              " labels, too few: sample ", index, " has none");
      if (const std::int64_t label = budget.labels[at]; label >= 0) {
        require(label < rows.length, ErrorKind::invalid_argument, "ErrorBudget::labels has class ", label, " for sample ", index,
                ", and the output ", rows.length, " classes from 0 on");
        const int places = metric.name == "top5" ? 5 : 1;
        lost.error +=
            static_cast<int>(quant::is_placed(expected, r, label, places)) - static_cast<int>(quant::is_placed(got, r, label, places));
        lost.size += 1;
      }
    }
    return lost;
  }
  // NaN is no error that any bound allows.
  Judged share_of(const std::vector<quant::SampleError>& errors, double bound) const {
    quant::Metric by = metric;
    if (!budget.labels.empty()) by.over = quant::ratio;
    const quant::Estimate e = quant::estimate(by, errors);
    const auto share = [bound](double x) { return std::isnan(x) ? std::numeric_limits<double>::infinity() : x / bound; };
    return {share(e.value), share(e.low), share(e.high)};
  }
  Judged by_callers_measure(const Answers& got) const {
    std::vector<OutputSet> reference, candidate;
    for (std::size_t s = 0; s < answered.size(); ++s)
      reference.push_back(set_of(answered[s].requested)), candidate.push_back(set_of(got[s]));
    const double error = budget.measure(reference, candidate);
    require(!std::isnan(error), ErrorKind::invalid_argument, "ErrorBudget::measure gave no number (NaN) for an error");
    const double share = error / budget.max_error;
    return {share, share, share};
  }
  OutputSet set_of(const std::vector<RuntimeValue>& values) const {
    OutputSet set;
    for (std::size_t o = 0; o < outputs.size(); ++o)
      if (values.at(o).is_tensor()) set[outputs[o]] = values[o].tensor();
    return set;
  }
};

Judge::Judge(const ir::Graph& source, const BuildConfig& config, int first, int max_samples, GoOn go_on)
    : impl_(new Impl{*config.budget, quant::metric(config.budget->metric), std::move(go_on), {}, {}, {}}) {
  for (const ir::Value* v : source.outputs) {
    impl_->outputs.push_back(v->name);
    const auto own = impl_->budget.outputs.find(v->name);
    impl_->bounds.push_back(own == impl_->budget.outputs.end() ? impl_->budget.max_error : own->second);
  }
  const std::vector<plan::Range> ranges = symbol_ranges(source, profile_of_samples(config), {});
  ir::Graph graph = source.clone();
  specialize(graph, ranges);
  lower_for_kernels(graph);
  ObservedRuns floats(std::move(graph), ranges, config, ObservedRuns::Processors::side_by_side);
  Calibration limited = *config.calibration;   // no sample is read or run that nobody judges by
  limited.samples = static_cast<int>(std::min<std::int64_t>(limited.samples, first + std::int64_t{2} * max_samples));
  const bool strict = !impl_->budget.measure && impl_->budget.labels.empty();   // our own metrics know no error of NaN
  for_each_batch(limited, first, floats.good_batch(), [&](const Batch& batch) {
    std::vector<std::vector<RuntimeValue>> answers = floats.run_all(batch);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      in_sample(batch.number(i), [&] { expect_numbers(batch.samples[i], impl_->outputs, answers[i], strict); });
      impl_->answered.push_back({batch.number(i), batch.samples[i], std::move(answers[i])});
      impl_->report_progress(samples(), max_samples);
    }
  });
}
Judge::~Judge() = default;

int Judge::samples() const { return static_cast<int>(impl_->answered.size()); }

const InputSet& Judge::sample() const { return impl_->answered.front().sample; }

Judged Judge::judge(const Engine& engine) const {
  const auto context = engine.create_context();
  std::vector<std::string> inputs;
  for (const BindingInfo& b : engine.bindings())
    if (b.is_input) inputs.push_back(b.name);
  Answers got;
  for (const Answered& one : impl_->answered) {
    got.push_back(run_values(*context, in_order(one.sample, inputs)));
    impl_->report_progress(static_cast<int>(got.size()), samples());
  }
  return impl_->judge(got);
}

}  // namespace tenfold::builder
