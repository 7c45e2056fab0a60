// The search. One type for all is tried first. Then the layers that cost most in error for the time they save go wide, as many as it
// takes (Shoham and Gersho 1988: the best allocation has one exchange rate for all; HAWQ-V3, Yao et al. 2021, for networks), and at
// last single ones of them narrow again. Single errors only order the layers: every plan that counts is measured whole.
#include "builder/budget/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/log.h"
#include "builder/budget/judge.h"
#include "builder/budget/sensitivity.h"
#include "builder/model/profiles.h"
#include "builder/note_book.h"
#include "passes/pipeline.h"
#include "tenfold/inspect.h"
#include "tenfold/timing_cache.h"

namespace tenfold::builder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSamplesOfOne = 4;  // on which a single layer's error is measured

struct Made {
  Engine engine;
  BuildReport report;
  BudgetPlan plan;
  bool all_wide = false;   // no layer is of 8 bits by the calibration
};

// By the tuner, of the steps that compute a layer of the model, in milliseconds.
std::map<std::string, double> times_of(const Engine& engine, const BuildReport& report) {
  std::map<std::string, double> of_step, of_layer;
  for (const StepReport& step : report.steps)
    for (const TacticReport& tactic : step.tried)
      if (tactic.chosen && tactic.nanoseconds > 0) of_step[step.node] = tactic.nanoseconds / 1e6;
  for (const PlanProgram& program : engine.inspection().programs)
    for (const PlanStep& step : program.steps)
      for (const std::int32_t node : step.nodes) of_layer[program.nodes.at(static_cast<std::size_t>(node)).name] += of_step[step.name];
  return of_layer;
}

class Search {
 public:
  Search(const ir::Graph& source, const BuildConfig& config, const backends::DeviceInfo& device, const MakePlan& make)
      : source_(source), config_(config), device_(device), make_(make), judge_(source, config, 1, config.calibration->samples) {
    require(judge_.samples() > 0, ErrorKind::invalid_argument,
            "an error budget needs two samples at least: the first gives ranges, the second shows the error");
    told_.samples = judge_.samples(), findings_.keeps_rewritten = true;
    base_ = config, base_.budget.reset();
    if (!base_.int8) base_.calibration.reset();
    base_.log = [log = Log(config.log), told = std::make_shared<std::set<std::string, std::less<>>>()](Severity severity,
                                                                                                       std::string_view text) {
      if (severity >= Severity::warning && told->emplace(text).second) log(severity, text);  // of many plans each warning once
    };
    if (!base_.timings) base_.timings = std::make_shared<TimingCache>();
  }

  Engine run(BuildReport& report) {
    const bool narrow = consider("everything permitted", base_);
    narrow_times_ = std::move(last_times_);
    consider_single_types();
    if (!narrow && has_time()) mix();
    if (!best_) take_floats();
    return finish(report);
  }

 private:
  // Asked before each further step, so that an end for want of time is known as one.
  bool has_time() {
    const bool has = seconds() < config_.budget->search_seconds;
    told_.out_of_time |= !has;
    return has;
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // The 16 bits that the last plan has, if it has any.
  DType sixteen_bits() const {
    for (const DType type : {DType::f16, DType::bf16})
      if (last_types_.count(type)) return type;
    return DType::f32;
  }

  // Makes a plan and measures it. True if it is within the budget. Without a name it has that of its type. `anyway`: it is taken if
  // there is none so far. One that cannot be had under types that the user wants obeyed is none.
  bool consider(std::string name, const BuildConfig& config, bool anyway = false) {
    try {
      return measure(std::move(name), config, anyway);
    } catch (const Error& e) {
      const bool may_fail = !told_.plans.empty() && !anyway && config.layer_types.constraints == LayerConstraints::obey;
      if (e.kind() != ErrorKind::unsupported || !may_fail) throw;
      Log(config_.log)(Severity::info, "budget: a plan is left out: ", e.what());
      return false;
    }
  }
  bool measure(std::string name, const BuildConfig& config, bool anyway) {
    BuildReport report;
    Engine engine = make_(config, report, findings_);
    last_types_ = report.layers_by_type;
    if (name.empty()) name = sixteen_bits() == DType::f32 ? "fp32" : sixteen_bits() == DType::f16 ? "fp16" : "bf16";
    const Judged judged = judge_.judge(engine);
    const double bound = config_.budget->max_error;
    const BudgetPlan plan{.name = name, .error = judged.share * bound, .low = judged.low * bound, .high = judged.high * bound,
                          .milliseconds = report.tuned_ms, .tuned_milliseconds = report.tuned_ms,
                          .weight_bytes = engine.info().weight_bytes, .work = {}, .within = judged.within(), .taken = false};
    Log(config_.log)(Severity::info, "budget: ", name, ": error ", plan.error, " of ", bound,
                     plan.milliseconds < 0 ? std::string() : cat(", ", plan.milliseconds, " ms"));
    last_times_ = times_of(engine, report);
    if (plan.within ? !best_ || is_better(plan, best_->plan) : anyway && !best_) {
      best_.reset(), best_.emplace(Made{std::move(engine), std::move(report), plan, !config.calibration});
      taken_ = told_.plans.size(), wide_of_best_ = wide_layers_;
    }
    told_.plans.push_back(plan);
    return plan.within;
  }
  // Without times the one with fewer bytes of weights is.
  static bool is_better(const BudgetPlan& a, const BudgetPlan& b) {
    if (a.milliseconds < 0 || b.milliseconds < 0) return a.weight_bytes < b.weight_bytes;
    return a.milliseconds < b.milliseconds;
  }

  // Without 8 bits: 16 bits where they are permitted and within the budget, else f32. What 8 bits save is measured by what this takes.
  void consider_single_types() {
    if (!has_time()) return;
    BuildConfig wide = base_;
    wide.calibration.reset();
    const bool within = consider("", wide);
    const DType type = sixteen_bits();
    if (type != DType::f32 && within) wide_ = type;
    wide.fp16 = wide.bf16 = false;
    if (type != DType::f32 && !within && has_time()) consider("fp32", wide);
    wide_times_ = std::move(last_times_);
  }
  void take_floats() {
    BuildConfig exact = base_;
    exact.calibration.reset();
    exact.fp16 = exact.bf16 = exact.int8 = exact.fp8 = exact.tf32 = exact.auto_precision = false;
    if (!consider("fp32 without rounding", exact, true))
      Log(config_.log)(Severity::warning, "no plan is within the error budget, not even one of f32 (", told_.plans.back().error,
                       "): it is taken");
    else
      Log(config_.log)(Severity::warning, "nothing narrower than f32 is within the error budget: the plan is one of f32");
  }

  // Some layers wide.
  void mix() {
    if (!findings_.rewritten || !findings_.ranges || findings_.ranges->empty()) return;
    const Judge on_few(source_, config_, 0, kSamplesOfOne);
    layers_ = sensitivities(*findings_.rewritten, symbol_ranges(source_, profiles_of(config_).front(), {}), *findings_.ranges,
                            passes::placing_for(device_), config_, on_few, [this] { return has_time(); });
    if (layers_.empty()) return;
    const std::vector<std::size_t> order = by_exchange_rate();
    std::size_t none = 0, enough = order.size();  // so many wide are too few; so many suffice, or all of them
    while (enough - none > 1 && has_time()) {
      const std::size_t middle = none + (enough - none) / 2;
      wide_layers_.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(middle));
      (consider_wide() ? enough : none) = middle;
    }
    exchange(order, enough);
  }
  bool consider_wide() {
    std::sort(wide_layers_.begin(), wide_layers_.end());
    if (const auto before = tried_.find(wide_layers_); before != tried_.end()) return before->second;
    BuildConfig config = base_;
    LayerTypes& types = config.layer_types;
    if (types.constraints == LayerConstraints::none)
      types = {.constraints = LayerConstraints::prefer, .precisions = {}, .output_types = {}};
    for (const std::size_t i : wide_layers_) types.precisions.push_back({layers_[i].layer, wide_});
    return tried_[wide_layers_] = consider(cat(wide_layers_.size(), " of ", layers_.size(), " layers in ", name(wide_)), config);
  }
  // Layers whose error is large for the time that their 8 bits save come first; those that save none before all others.
  std::vector<std::size_t> by_exchange_rate() {
    std::vector<std::size_t> order(layers_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    constexpr double kLeast = 1e-9;  // ms
    std::vector<double> rate;
    for (const Sensitivity& layer : layers_) {
      const double saved = saved_by(layer.layer);
      saved_.push_back(saved);
      rate.push_back(layer.share * layer.share / std::max(saved, kLeast));
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rate[a] > rate[b]; });
    return order;
  }
  // By the tuner's times in the first plan and in the one without 8 bits. Where nothing was timed, all layers are alike.
  double saved_by(const std::string& layer) const {
    if (told_.plans.front().milliseconds < 0) return 1;
    return time_of(wide_times_, layer) - time_of(narrow_times_, layer);
  }
  static double time_of(const std::map<std::string, double>& times, const std::string& layer) {
    const auto at = times.find(layer);
    return at == times.end() ? 0 : at->second;
  }
  // Single layers back to 8 bits, those that save most first, while the budget holds.
  void exchange(const std::vector<std::size_t>& order, std::size_t enough) {
    std::vector<std::size_t> wide(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(enough));
    std::vector<std::size_t> back = wide;
    std::stable_sort(back.begin(), back.end(), [&](std::size_t a, std::size_t b) { return saved_[a] > saved_[b]; });
    constexpr std::size_t kMostExchanges = 4;
    back.resize(std::min(back.size(), kMostExchanges));
    for (const std::size_t one : back) {
      if (!has_time() || wide.size() < 2) return;
      wide_layers_ = wide;
      std::erase(wide_layers_, one);
      if (consider_wide()) wide = wide_layers_;
    }
  }

  Engine finish(BuildReport& report) {
    told_.plans[taken_].taken = true;
    told_.met = best_->plan.within;
    for (std::size_t i = 0; i < saved_.size(); ++i)
      told_.layers.push_back({.layer = layers_[i].layer, .op = layers_[i].op, .error = layers_[i].share * config_.budget->max_error,
                              .saved_milliseconds = saved_[i],
                              .wide = best_->all_wide || std::count(wide_of_best_.begin(), wide_of_best_.end(), i) > 0, .type = DType::f32,
                              .advice = {}});
    told_.seconds = seconds();
    BuildReport& best = best_->report;
    best.notes.insert(best.notes.begin(), report.notes.begin(), report.notes.end());
    best.device_s = report.device_s, best.import_s = report.import_s;
    report = std::move(best), report.budget = std::move(told_);
    return std::move(best_->engine);
  }

  const ir::Graph& source_;
  const BuildConfig& config_;
  const backends::DeviceInfo& device_;
  const MakePlan& make_;
  BuildConfig base_;
  Clock::time_point start_ = Clock::now();
  Findings findings_;
  Judge judge_;
  BudgetReport told_;
  std::optional<Made> best_;
  std::size_t taken_ = 0;
  DType wide_ = DType::f32;   // what layers that are not of 8 bits compute in
  std::map<DType, int> last_types_;
  std::vector<Sensitivity> layers_;
  std::vector<double> saved_;
  std::vector<std::size_t> wide_layers_, wide_of_best_;
  std::map<std::vector<std::size_t>, bool> tried_;   // sets of wide layers, and whether they were within the budget
  std::map<std::string, double> wide_times_, narrow_times_, last_times_;
};

void check(const ir::Graph& source, const BuildConfig& config) {
  const ErrorBudget& budget = *config.budget;
  quant::metric(budget.metric);
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

}  // namespace

Engine engine_within_budget(const ir::Graph& source, const BuildConfig& config, const backends::DeviceInfo& device, const MakePlan& make,
                            BuildReport& report) {
  check(source, config);
  return Search(source, config, device, make).run(report);
}

}  // namespace tenfold::builder
