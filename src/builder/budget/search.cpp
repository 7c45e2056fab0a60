// The search. Plans of one type for all come first: they are candidates, and tell what each layer takes in each type. Then mixed ones, in
// the order of their predicted time: a bisection finds the quickest whose measured error is within the budget, and at last single layers
// become narrower again (Shoham and Gersho 1988; HAWQ-V3, Yao et al. 2021). Predictions order the candidates. What decides, and what is
// told, was measured on finished plans.
#include "builder/budget/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "backends/device_traits.h"
#include "base/check.h"
#include "base/log.h"
#include "builder/budget/judge.h"
#include "builder/budget/mixes.h"
#include "builder/budget/records.h"
#include "builder/budget/run_times.h"
#include "builder/budget/sensitivity.h"
#include "builder/model/profiles.h"
#include "builder/note_book.h"
#include "passes/pipeline.h"
#include "tenfold/timing_cache.h"

namespace tenfold::builder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kRunSeconds = 0.2;       // that a plan is timed for
constexpr double kClose = 0.15;           // times that differ by less are taken again, in turns
constexpr int kTurns = 4;

struct Made {
  Engine engine;
  BuildReport report;
  BudgetPlan plan;
  Recipe recipe;
  Hash128 hash;
  Computed computed;
  std::unique_ptr<RunTimes> times = {};   // null: its time is known from before
};

class Search {
 public:
  Search(const ir::Graph& source, const BuildConfig& config, const backends::DeviceInfo& device, const MakePlan& make)
      : source_(source), config_(config), device_(device), make_(make), ranges_(symbol_ranges(source, profiles_of(config).front(), {})),
        records_(source, ranges_, config, device) {
    require(records_.samples() > 1, ErrorKind::invalid_argument,
            "an error budget needs two samples at least: the first gives ranges, the second shows the error");
    told_.samples = records_.samples() / 2, findings_.keeps_rewritten = true;
    base_ = config, base_.budget.reset();
    if (!base_.int8) base_.calibration.reset();
    base_.log = [log = Log(config.log), told = std::make_shared<std::set<std::string, std::less<>>>()](Severity severity,
                                                                                                       std::string_view text) {
      if (severity >= Severity::warning && told->emplace(text).second) log(severity, text);  // of many plans each warning once
    };
    if (!base_.timings) base_.timings = std::make_shared<TimingCache>();
  }

  Engine run(BuildReport& report) {
    take_known_ranges();
    if (std::optional<Engine> known = remembered(report)) return std::move(*known);
    judge_.emplace(source_, config_, told_.samples, [this](int done, int total) { ask(done, total); });
    consider("everything permitted", {Recipe::everything});
    if (base_.calibration && config_.calibration->cache.empty()) records_.add_ranges(findings_);
    consider_single_types();
    if (has_time()) mix();
    if (!best_) take_floats();
    settle();
    tell_of_unfused();
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
  void ask(int done, int total) const {
    if (config_.progress)
      require(config_.progress({"budget", done, total}), ErrorKind::cancelled, "the build was cancelled while it searched within its budget");
  }

  // A calibration cache gives ranges of its own.
  void take_known_ranges() {
    if (base_.calibration && config_.calibration->cache.empty()) records_.find_ranges(findings_);
  }
  BuildConfig config_of(const Recipe& recipe) const {
    BuildConfig config = base_;
    if (recipe.kind != Recipe::everything) config.calibration.reset();
    if (recipe.kind >= Recipe::floats) config.fp16 = config.bf16 = config.auto_precision = false;
    if (recipe.kind == Recipe::exact_floats) config.int8 = config.fp8 = config.tf32 = false;
    if (recipe.kind >= Recipe::unfused) config.optimization_level = 0;
    if (recipe.kind == Recipe::unfused)
      for (const passes::Pass& pass : passes::pipeline_for(device_, config).fuse)
        if (passes::pass_names().count(pass.name)) config.disabled_passes.push_back(pass.name);
    LayerTypes& types = config.layer_types;
    if (!recipe.layers.empty() && types.constraints == LayerConstraints::none) types = {LayerConstraints::prefer, {}, {}};
    types.precisions.insert(types.precisions.end(), recipe.layers.begin(), recipe.layers.end());
    return config;
  }

  // Makes a plan and measures it. True if it is within the budget. Without a name it has that of its type. `anyway`: it is taken if
  // there is none so far. One that cannot be had under types that the user wants obeyed is none.
  bool consider(std::string name, const Recipe& recipe, bool anyway = false) {
    try {
      Made made = measure(std::move(name), recipe);
      last_type_ = narrowest_of(made.computed);
      if (recipe.layers.empty() && recipe.kind <= Recipe::floats) learn(made);
      return take(made, anyway);
    } catch (const Error& e) {
      const bool may_fail = !told_.plans.empty() && !anyway && config_.layer_types.constraints == LayerConstraints::obey;
      if (e.kind() != ErrorKind::unsupported || !may_fail) throw;
      Log(config_.log)(Severity::info, "budget: a plan is left out: ", e.what());
      return false;
    }
  }
  Made measure(std::string name, const Recipe& recipe) {
    BuildReport report;
    Engine engine = make_(config_of(recipe), report, findings_);
    if (all_.list.empty() && findings_.rewritten) find_layers();
    const Hash128 hash = records_.used() ? BudgetRecords::hash_of(engine) : Hash128{};
    std::set<std::string> names;
    for (const Layer& layer : all_.list) names.insert(layer.name);
    Computed computed = computed_by(engine, report, names);
    if (name.empty()) name = narrowest_of(computed) == DType::f32 ? "fp32" : narrowest_of(computed) == DType::f16 ? "fp16" : "bf16";
    Made made{std::move(engine), std::move(report), {}, recipe, hash, std::move(computed)};
    const double bound = config_.budget->max_error;
    const Judged judged = measured_error(made);
    made.plan = {.name = std::move(name), .error = judged.share * bound, .low = judged.low * bound, .high = judged.high * bound,
                 .milliseconds = measured_milliseconds(made), .tuned_milliseconds = made.report.tuned_ms,
                 .weight_bytes = made.engine.info().weight_bytes, .work = work_of(made.computed), .within = judged.within(), .taken = false};
    Log(config_.log)(Severity::info, "budget: ", made.plan.name, ": error ", made.plan.error, " of ", bound, ", ",
                     made.plan.milliseconds, " ms");
    return made;
  }
  Judged measured_error(const Made& made) const {
    if (const auto known = records_.error(made.hash)) return *known;
    const Judged judged = judge_->judge(made.engine);
    records_.add_error(made.hash, judged);
    return judged;
  }
  double measured_milliseconds(Made& made) const {
    if (const auto known = records_.milliseconds(made.hash)) return *known;
    made.times = std::make_unique<RunTimes>(made.engine, judge_->sample());
    made.times->run_for(kRunSeconds);
    return made.times->milliseconds();
  }
  // 16 bits, if any layer has them, else f32.
  static DType narrowest_of(const Computed& computed) {
    for (const DType type : {DType::f16, DType::bf16})
      for (const auto& [layer, own] : computed.types)
        if (own == type) return type;
    return DType::f32;
  }
  std::map<DType, double> work_of(const Computed& computed) const {
    std::map<DType, double> work;
    double sum = 0;
    for (const Layer& layer : all_.list)
      if (const auto at = computed.types.find(layer.name); at != computed.types.end() && layer.multiplications > 0)
        work[at->second] += layer.multiplications, sum += layer.multiplications;
    for (auto& [type, share] : work) share /= sum;
    return work;
  }

  // The quicker of two that are within the budget stays.
  bool take(Made& made, bool anyway) {
    const bool within = made.plan.within, first = !best_;
    if (within && !first) time_in_turns(made);
    records_.add_milliseconds(made.hash, made.plan.milliseconds);
    const bool better = within ? first || made.plan.milliseconds < best_->plan.milliseconds : anyway && first;
    told_.plans.push_back(made.plan);
    if (better) best_.reset(), best_.emplace(std::move(made)), taken_ = told_.plans.size() - 1;
    return within;
  }
  // What else the machine does falls on both then.
  void time_in_turns(Made& made) {
    const double known = best_->plan.milliseconds;
    if (!made.times || !best_->times || std::abs(made.plan.milliseconds - known) > kClose * known) return;
    made.times->forget(), best_->times->forget();
    for (int turn = 0; turn < kTurns; ++turn) made.times->run_for(kRunSeconds / 2), best_->times->run_for(kRunSeconds / 2);
    made.plan.milliseconds = made.times->milliseconds();
    told_.plans[taken_].milliseconds = best_->plan.milliseconds = best_->times->milliseconds();
  }

  void find_layers() {
    ir::Graph fixed = findings_.rewritten->clone();
    std::vector<plan::Range> at = ranges_;
    for (plan::Range& r : at) r.min = r.max = r.opt;
    try {
      specialise(fixed, at);
    } catch (const Error&) {   // sizes stay open, and nobody knows the work
      fixed = findings_.rewritten->clone();
    }
    all_ = layers_of(fixed);
  }

  // What each layer takes in the type that a plan of one type gives it. The tuner's times are brought to the measured one of the whole;
  // where nothing was timed the multiplications share it.
  void learn(const Made& made) {
    double tuned = 0, multiplications = 0;
    for (const auto& [layer, ms] : made.computed.milliseconds) tuned += ms;
    for (const Layer& layer : all_.list) multiplications += layer.multiplications;
    for (Layer& layer : all_.list) {
      const auto type = made.computed.types.find(layer.name);
      if (type == made.computed.types.end()) continue;
      const auto own = made.computed.milliseconds.find(layer.name);
      const double share = tuned > 0 ? (own == made.computed.milliseconds.end() ? 0 : own->second / tuned)
                                     : layer.multiplications / std::max(multiplications, 1.0);
      if (!layer.milliseconds.emplace(type->second, share * made.plan.milliseconds).second) continue;
      layer.types.push_back(type->second);
      std::stable_sort(layer.types.begin(), layer.types.end(), [](DType a, DType b) { return bits(a) < bits(b); });
    }
    if (usual_.empty()) usual_ = made.computed.types, error_of_all_ = made.plan.error;
    singles_.push_back(made.computed), singles_within_.push_back(made.plan.within);
  }

  // Without 8 bits: 16 bits where they are permitted; and f32.
  void consider_single_types() {
    if (!has_time()) return;
    consider("", {Recipe::no_bytes});
    if (last_type_ != DType::f32 && has_time()) consider("fp32", {Recipe::floats});
  }
  void take_floats() {
    if (!consider("fp32 without rounding", {Recipe::exact_floats}, true))
      Log(config_.log)(Severity::warning, "no plan is within the error budget, not even one of f32 (", told_.plans.back().error,
                       "): it is taken");
    else
      Log(config_.log)(Severity::warning, "nothing narrower than f32 is within the error budget: the plan is one of f32");
  }

  // Some layers wider than others.
  void mix() {
    const auto has_choice = [](const Layer& layer) { return layer.types.size() > 1; };
    if (std::none_of(all_.list.begin(), all_.list.end(), has_choice)) return;
    for (Layer& layer : all_.list)
      if (layer.types.empty()) layer.types.push_back(DType::f32);   // no step of a finished plan computes it
    for (std::size_t i = 0; i < singles_.size(); ++i) tried_[types_in(singles_[i])] = singles_within_[i];
    if (!records_.find_alone(all_)) {
      static const quant::Ranges none;
      const quant::Placing placing = passes::placing_for(device_);
      measure_alone(all_, {source_, *findings_.rewritten, findings_.ranges ? *findings_.ranges : none, placing, config_},
                    [this](int done, int total) { return ask(done, total), has_time(); });
      if (has_time()) records_.add_alone(all_);
    }
    problem_ = problem_of(all_, backends::traits_of(device_).launches);
    const std::vector<Allocation> line = frontier(problem_);
    if (const std::size_t quickest = first_within(line); quickest > 0 && quickest < line.size()) exchange(line[quickest]);
  }
  std::vector<DType> types_in(const Computed& computed) const {
    std::vector<DType> types;
    for (const Layer& layer : all_.list) {
      const auto at = computed.types.find(layer.name);
      types.push_back(at == computed.types.end() ? layer.types.front() : at->second);
    }
    return types;
  }
  bool consider_mix(const Allocation& states) {
    const std::vector<DType> types = types_of(all_, states);
    if (const auto before = tried_.find(types); before != tried_.end()) return before->second;
    return tried_[types] = consider(name_of(all_, types), {Recipe::everything, precisions_for(all_, types, usual_)});
  }
  // Predicted errors are brought to that of everything permitted, for they do not add up.
  double predicted(const Allocation& states) const {
    Allocation all;
    const std::vector<DType> types = types_in(singles_.front());
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::vector<DType>& own = all_.list[i].types;
      all.push_back(static_cast<int>(std::find(own.begin(), own.end(), types[i]) - own.begin()));
    }
    const double of_all = error_of(problem_, all);
    return error_of(problem_, states) * (of_all > 0 && std::isfinite(error_of_all_) ? error_of_all_ / of_all : 1);
  }
  // The first that is, measured; their number if none is. It begins with the one that is predicted, and looks near it.
  std::size_t first_within(const std::vector<Allocation>& line) {
    std::size_t none = 0, enough = line.size(), step = 1;   // so many are not; this one is
    std::size_t next = 0;
    while (next + 1 < line.size() && predicted(line[next]) > config_.budget->max_error) ++next;
    bool below = false, above = false;
    while (none < enough && has_time()) {
      const bool within = consider_mix(line[next]);
      (within ? above : below) = true;
      within ? enough = next : none = next + 1;
      if (below && above) next = none + (enough - none) / 2;
      else next = within ? next - std::min(step, next - none) : std::min(next + step, line.size() - 1);
      step *= 2;
    }
    return enough;
  }
  // Single layers in a quicker type, those first that win most time for their error, while the budget holds.
  void exchange(Allocation states) {
    struct Move { std::size_t layer; int state; double won, rate; };
    std::vector<Move> moves;
    const double before = milliseconds_of(problem_, states), error = error_of(problem_, states);
    for (std::size_t i = 0; i < states.size(); ++i)
      for (int state = 0; state < static_cast<int>(problem_.layers[i].size()); ++state) {
        Allocation moved = states;
        moved[i] = state;
        const double won = before - milliseconds_of(problem_, moved), more = std::max(error_of(problem_, moved) - error, 1e-12);
        if (won > 0 && predicted(moved) < kHopeful * config_.budget->max_error) moves.push_back({i, state, won, won / more});
      }
    std::stable_sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.rate > b.rate; });
    if (moves.size() > kMostExchanges) moves.resize(kMostExchanges);
    for (const Move& move : moves) {
      if (!has_time()) return;
      Allocation moved = states;
      moved[move.layer] = move.state;
      if (consider_mix(moved)) states = std::move(moved);
    }
  }

  // Times that were taken last may lead to another plan from the same configuration: the one that the next build makes is taken.
  void settle() {
    constexpr int kMostRounds = 3;
    for (int i = 0; records_.used() && i < kMostRounds; ++i) {
      Made again = measure(best_->plan.name, best_->recipe);
      settled_ = again.hash == best_->hash;
      if (settled_ || (best_->plan.within && !again.plan.within)) return;
      again.plan.taken = true;
      told_.plans[taken_] = again.plan;
      records_.add_milliseconds(again.hash, again.plan.milliseconds);
      best_.reset(), best_.emplace(std::move(again));
    }
  }
  // Where it takes no time worth speaking of: what fusing and tuning won.
  void tell_of_unfused() {
    constexpr double kShare = 0.05, kTimesSlower = 8;
    const double each = best_->plan.milliseconds / 1e3 * told_.samples * kTimesSlower + kRunSeconds;
    if (config_.optimization_level == 0 || each > kShare * config_.budget->search_seconds || !has_time()) return;
    told_.plans.push_back(measure("fp32, unfused, level 0", {Recipe::unfused}).plan);
    told_.plans.push_back(measure("fp32, fused, level 0", {Recipe::untuned}).plan);
    for (std::size_t i = told_.plans.size() - 2; i < told_.plans.size(); ++i) told_.plans[i].tuned_milliseconds = -1;
  }

  void tell_of_layers() {
    for (const Layer& layer : all_.list) {
      if (layer.types.size() < 2) continue;
      const DType narrow = layer.types.front(), wide = layer.types.back();
      const auto own = best_->computed.types.find(layer.name);
      const DType type = own == best_->computed.types.end() ? DType::f32 : own->second;
      const auto error = layer.error.find(narrow);
      told_.layers.push_back({.layer = layer.name, .op = layer.op, .error = error == layer.error.end() ? 0 : error->second,
                              .saved_milliseconds = layer.milliseconds.at(wide) - layer.milliseconds.at(narrow),
                              .wide = bits(type) > bits(narrow), .type = type,
                              .advice = advice_on(layer, type, config_.budget->max_error)});
    }
  }
  Engine finish(BuildReport& report) {
    told_.plans[taken_].taken = true;
    told_.met = best_->plan.within;
    tell_of_layers();
    if (settled_ && !told_.out_of_time) records_.add_taken({best_->recipe, best_->hash, told_});
    return handed_over(report, std::move(best_->report), std::move(best_->engine));
  }
  Engine handed_over(BuildReport& report, BuildReport best, Engine engine) {
    told_.seconds = seconds();
    best.notes.insert(best.notes.begin(), report.notes.begin(), report.notes.end());
    best.device_s = report.device_s, best.import_s = report.import_s;
    report = std::move(best), report.budget = std::move(told_);
    return engine;
  }
  // The plan that the same search took before, if a build makes the same again.
  std::optional<Engine> remembered(BuildReport& report) {
    const std::optional<Remembered> known = records_.taken();
    if (!known) return {};
    BuildReport made;
    Findings findings = std::move(findings_);
    Engine engine = make_(config_of(known->recipe), made, findings);
    findings_ = {}, findings_.keeps_rewritten = true;
    take_known_ranges();
    if (BudgetRecords::hash_of(engine) != known->plan) return {};
    told_ = known->report;
    return handed_over(report, std::move(made), std::move(engine));
  }

  static constexpr std::size_t kMostExchanges = 6;
  static constexpr double kHopeful = 1.25;   // predicted errors up to so many budgets are tried

  const ir::Graph& source_;
  const BuildConfig& config_;
  const backends::DeviceInfo& device_;
  const MakePlan& make_;
  const std::vector<plan::Range> ranges_;
  BuildConfig base_;
  Clock::time_point start_ = Clock::now();
  BudgetRecords records_;
  Findings findings_;
  std::optional<Judge> judge_;
  BudgetReport told_;
  std::optional<Made> best_;
  std::size_t taken_ = 0;              // of told_.plans
  bool settled_ = false;               // a build makes best_ again
  Layers all_;
  DType last_type_ = DType::f32;       // the 16 bits that the last plan has, if it has any
  std::map<std::string, DType> usual_; // of layers, where everything is permitted
  double error_of_all_ = 0;            // there
  std::vector<Computed> singles_;      // by plans of one type for all
  std::vector<bool> singles_within_;
  AllocationProblem problem_;
  std::map<std::vector<DType>, bool> tried_;   // types of all layers, and whether they were within the budget
};

void check(const ir::Graph& source, const BuildConfig& config) {
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

}  // namespace

Engine engine_within_budget(const ir::Graph& source, const BuildConfig& config, const backends::DeviceInfo& device, const MakePlan& make,
                            BuildReport& report) {
  check(source, config);
  return Search(source, config, device, make).run(report);
}

}  // namespace tenfold::builder
