#include "builder/budget/trials.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/log.h"
#include "builder/model/profiles.h"
#include "passes/pipeline.h"
#include "tenfold/timing_cache.h"

namespace tenfold::builder {
namespace {

constexpr double kRunSeconds = 0.2;       // that the first plan is timed for
constexpr int kTurns = 5;
constexpr double kTurnSeconds = 0.05;
constexpr double kClose = 0.1;            // times that differ by less are compared again, directly

// How much longer runs of `a` take than those of `b`. What else the machine does falls on both.
double in_turns(RunTimes& a, RunTimes& b) {
  a.forget(), b.forget();
  for (int turn = 0; turn < kTurns; ++turn) a.run_for(kTurnSeconds), b.run_for(kTurnSeconds);
  return a.milliseconds() / b.milliseconds();
}

// Of many plans each warning once.
LogCallback warnings_once(const LogCallback& log) {
  return [log = Log(log), reported = std::make_shared<std::set<std::string, std::less<>>>()](Severity severity, std::string_view text) {
    if (severity >= Severity::warning && reported->emplace(text).second) log(severity, text);
  };
}

}  // namespace

DType wide_type_of(const Computed& computed) {
  for (const DType type : {DType::f16, DType::bf16})
    for (const auto& [layer, own] : computed.types)
      if (own == type) return type;
  return DType::f32;
}

Trials::Trials(const ir::Graph& source, const BuildConfig& config, const backends::DeviceInfo& device, const MakePlan& make)
    : config(config),
      device(device),
      source(source),
      records(source, symbol_ranges(source, profiles_of(config).front(), {}), config, device),
      make_(make),
      ranges_(symbol_ranges(source, profiles_of(config).front(), {})) {
  require(records.samples() > 1, ErrorKind::invalid_argument,
          "an error budget needs two samples at least: the first gives ranges, the second shows the error");
  reported.samples = records.samples() / 2, findings.keeps_rewritten = true;
  base_ = config, base_.budget.reset(), base_.log = warnings_once(config.log);
  std::erase_if(base_.calibration->types, [&](DType type) { return type == DType::i8 ? !config.int8 : !config.fp8; });
  if (base_.calibration->types.empty()) base_.calibration.reset();   // its data shows errors, and no more
  if (!base_.timings) base_.timings = std::make_shared<TimingCache>();
  take_known_ranges();
}

void Trials::begin() {
  judge_.emplace(source, config, 1, reported.samples, [this](int done, int total) { report_progress(done, total); });
}

double Trials::seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
bool Trials::has_time() {
  const bool has = seconds() < config.budget->search_seconds;
  reported.out_of_time |= !has;
  return has;
}
void Trials::report_progress(int done, int total) const {
  if (config.progress)
    require(config.progress({"budget", done, total}), ErrorKind::cancelled, "the build was cancelled while it searched within its budget");
}

// A calibration cache gives ranges of its own.
void Trials::take_known_ranges() {
  if (base_.calibration && config.calibration->cache.empty()) records.find_ranges(findings);
}

BuildConfig Trials::config_of(const Recipe& recipe) const {
  BuildConfig own = base_;
  if (recipe.kind != Recipe::everything) own.calibration.reset();
  if (recipe.kind >= Recipe::floats) own.fp16 = own.bf16 = own.auto_precision = false;
  if (recipe.kind == Recipe::exact_floats) own.int8 = own.fp8 = own.tf32 = false;
  if (recipe.kind >= Recipe::unfused) own.optimization_level = 0;
  if (recipe.kind == Recipe::unfused)
    for (const passes::Pass& pass : passes::pipeline_for(device, own).fuse)
      if (passes::pass_names().count(pass.name)) own.disabled_passes.push_back(pass.name);
  LayerTypes& types = own.layer_types;
  if (!recipe.layers.empty() && types.constraints == LayerConstraints::none) types = {LayerConstraints::prefer, {}, {}};
  types.precisions.insert(types.precisions.end(), recipe.layers.begin(), recipe.layers.end());
  return own;
}

bool Trials::consider(std::string name, const Recipe& recipe, bool anyway, const std::function<void(const Made&)>& look) {
  try {
    Made made = measure(std::move(name), recipe);
    if (look) look(made);
    return take(made, anyway);
  } catch (const Error& e) {
    const bool may_fail = !reported.plans.empty() && !anyway && config.layer_types.constraints == LayerConstraints::obey;
    if (e.kind() != ErrorKind::unsupported || !may_fail) throw;
    Log(config.log)(Severity::info, "budget: a plan is left out: ", e.what());
    return false;
  }
}

Made Trials::measure(std::string name, const Recipe& recipe) {
  BuildReport report;
  Engine engine = make_(config_of(recipe), report, findings);
  if (layers.list.empty() && findings.rewritten) find_layers();
  const Hash128 hash = records.used() ? BudgetRecords::hash_of(engine) : Hash128{};
  std::set<std::string> names;
  for (const Layer& layer : layers.list) names.insert(layer.name);
  Computed computed = computed_by(engine, report, names);
  const DType wide = wide_type_of(computed);
  if (name.empty()) name = wide == DType::f32 ? "fp32" : wide == DType::f16 ? "fp16" : "bf16";
  Made made{std::move(engine), std::move(report), {}, recipe, hash, std::move(computed)};
  const double bound = config.budget->max_error;
  const Judged judged = measured_error(made);
  made.plan = {.name = std::move(name), .error = judged.share * bound, .low = judged.low * bound, .high = judged.high * bound,
               .milliseconds = measured_milliseconds(made), .tuned_milliseconds = made.report.tuned_ms,
               .weight_bytes = made.engine.info().weight_bytes, .work = work_of(made.computed), .within = judged.within(), .taken = false};
  Log(config.log)(Severity::info, "budget: ", made.plan.name, ": error ", made.plan.error, " of ", bound, ", ", made.plan.milliseconds,
                  " ms");
  return made;
}

Judged Trials::measured_error(const Made& made) const {
  if (const auto known = records.error(made.hash)) return *known;
  const Judged judged = judge_->judge(made.engine);
  records.add_error(made.hash, judged);
  return judged;
}

// All beside the first, so that they compare however busy the machine is by then.
double Trials::measured_milliseconds(Made& made) {
  if (const auto known = records.milliseconds(made.hash)) return *known;
  made.times = std::make_shared<RunTimes>(made.engine, judge_->sample());
  if (first_) return first_milliseconds_ * in_turns(*made.times, *first_);
  made.times->run_for(kRunSeconds);
  first_ = made.times, first_milliseconds_ = made.times->milliseconds();
  return first_milliseconds_;
}

std::map<DType, double> Trials::work_of(const Computed& computed) const {
  std::map<DType, double> work;
  double sum = 0;
  for (const Layer& layer : layers.list)
    if (const auto at = computed.types.find(layer.name); at != computed.types.end() && layer.multiplications > 0)
      work[at->second] += layer.multiplications, sum += layer.multiplications;
  for (auto& [type, share] : work) share /= sum;
  return work;
}

// The faster of two that are within the budget stays.
bool Trials::take(Made& made, bool anyway) {
  const bool within = made.plan.within, first = !best;
  double& own = made.plan.milliseconds;
  if (within && !first && made.times && best->times && std::abs(own / best->plan.milliseconds - 1) < kClose)
    own = best->plan.milliseconds * in_turns(*made.times, *best->times);
  records.add_milliseconds(made.hash, own);
  const bool better = within ? first || own < best->plan.milliseconds : anyway && first;
  reported.plans.push_back(made.plan);
  if (better) best.reset(), best.emplace(std::move(made)), taken_ = reported.plans.size() - 1;
  return within;
}

void Trials::find_layers() {
  ir::Graph fixed = findings.rewritten->clone();
  std::vector<plan::Range> at = ranges_;
  for (plan::Range& r : at) r.min = r.max = r.opt;
  try {
    specialize(fixed, at);
  } catch (const Error&) {   // sizes stay open, and nobody knows the work
    fixed = findings.rewritten->clone();
  }
  layers = layers_of(fixed);
}

void Trials::choose_final() {
  constexpr int kMaxRounds = 3;
  for (int i = 0; records.used() && i < kMaxRounds; ++i) {
    Made again = measure(best->plan.name, best->recipe);
    settled_ = again.hash == best->hash;
    if (settled_ || (best->plan.within && !again.plan.within)) break;
    reported.plans[taken_] = again.plan;
    records.add_milliseconds(again.hash, again.plan.milliseconds);
    best.reset(), best.emplace(std::move(again));
  }
  reported.plans[taken_].taken = true;
}

void Trials::report_unfused() {
  constexpr double kShare = 0.05, kTimesSlower = 8;
  const double each = best->plan.milliseconds / 1e3 * reported.samples * kTimesSlower + kRunSeconds;
  if (config.optimization_level == 0 || each > kShare * config.budget->search_seconds || !has_time()) return;
  for (const auto& [name, kind] :
       {std::pair("fp32, unfused, level 0", Recipe::unfused), std::pair("fp32, fused, level 0", Recipe::untuned)}) {
    reported.plans.push_back(measure(name, {kind}).plan);
    reported.plans.back().tuned_milliseconds = -1;
  }
}

void Trials::remember() const {
  if (settled_ && !reported.out_of_time) records.add_taken({best->recipe, best->hash, reported});
}

std::optional<Made> Trials::remembered() {
  std::optional<Remembered> known = records.taken();
  if (!known) return {};
  BuildReport report;
  Engine engine = make_(config_of(known->recipe), report, findings);
  findings = {}, findings.keeps_rewritten = true;   // those of such layers are no start for a search
  take_known_ranges();
  if (BudgetRecords::hash_of(engine) != known->plan) return {};
  reported = std::move(known->report);
  return Made{std::move(engine), std::move(report), {}, known->recipe, known->plan, {}};
}

}  // namespace tenfold::builder
