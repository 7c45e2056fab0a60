// Choosing and assembling, program by program.
#include "builder/plan_maker.h"

#include <algorithm>
#include <cmath>

#include "backends/device_traits.h"
#include "base/log.h"
#include "base/types/utf8.h"
#include "builder/model/typical_shapes.h"
#include "builder/options_text.h"
#include "builder/rebuild/kept_model.h"
#include "builder/stopwatch.h"
#include "builder/time_limit.h"
#include "builder/verbose.h"
#include "ir/lineage.h"
#include "passes/newest_row.h"
#include "passes/precision/notes.h"
#include "runtime/plugins/plugins.h"
#include "tune/timing/code_cache.h"
#include "tune/timing/shared_times.h"
#include "tune/tuner.h"

namespace tenfold::builder {
PlanMaker::PlanMaker(const BuildConfig& config, const std::string& model_name, std::shared_ptr<backends::Backend> backend,
                     BuildReport& report)
    : config_(config), shared_backend_(std::move(backend)), backend_(*shared_backend_),
      tactics_(runtime::tactics_with(backend_, config.plugins.get())), report_(report) {
  plan_.device = backend_.info(), plan_.device.opened = nullptr;
  plan_.needs = plan_.device.features;  // tactics were chosen among all of them
  plan_.keeps_denormals = !config.tf32;
  plan_.model_name = readable(model_name);
  plan_.builder = "tenfold " TENFOLD_VERSION;
  plan_.labels = config.labels;
  if (!config.timing_cache.empty()) cache_ = tune::TimingCache::load(config.timing_cache, Log(config.log));
  if (config.timings) cache_.merge(config.timings->impl().copy());
  if (backends::CodeStore* code = backend_.code())
    code->take(tune::load_code(tune::code_cache_path(config.timing_cache), Log(config.log)), false);
}

void PlanMaker::name_bindings(const ir::Graph& graph) {
  for (const auto* list : {&graph.inputs, &graph.outputs})
    for (const ir::Value* v : *list) {
      plan_.bindings.push_back({v->name, v->type, list == &graph.inputs});
      const auto at = config_.input_defaults.find(v->name);
      if (list == &graph.inputs && at != config_.input_defaults.end()) keep_default(plan_.bindings.back(), at->second);
    }
}

void PlanMaker::keep_default(plan::Binding& binding, const Tensor& value) {
  require(value.dtype() != DType::string, ErrorKind::unsupported, "input '", binding.name,
          "' holds strings: its initializer cannot be overridable, leave it out of BuildConfig::overridable and input_defaults");
  auto constant = std::make_shared<ir::Constant>();
  constant->tensor = value;
  binding.default_constant = constants_.add(binding.name, constant);
}

void PlanMaker::take_over(const plan::Plan& old, bool rounded) {
  plan_.labels.insert(old.labels.begin(), old.labels.end());  // what the caller says anew stands
  plan_.bindings = old.bindings, plan_.states = old.states, old_refit_ = &old.refit;
  for (plan::Binding& b : plan_.bindings) {
    if (b.default_constant < 0) continue;
    const std::byte* bytes = old.bytes_of(static_cast<std::size_t>(b.default_constant));
    keep_default(
        b, Tensor(b.type.tensor.dtype, ir::constants(b.type.tensor.dims), std::shared_ptr<const void>(old.weights_owner, bytes), bytes));
  }
  plan_.built.model_hash = old.built.model_hash;
  if (rounded) portable_.say_rounded();
}

ir::Graph PlanMaker::source_of(const ir::Graph& graph) {
  if (config_.profiles.size() > 1) name_bindings(graph);
  ir::Graph copy = graph.clone();
  if (config_.refittable) refit_.track(copy);
  ir::start_names(copy, "edit");
  runtime::expand_plugins(copy);
  ir::finalize_names(copy, "expand_plugins");
  passes::warn_of_fused_attention(copy, config_, backends::traits_of(plan_.device));
  shared_.know(copy);
  return copy;
}

void PlanMaker::share_constants(std::vector<ir::Graph>& forms) {
  for (ir::Graph& form : forms) shared_.share(form);
}

void PlanMaker::keep_model_of(const ir::Graph& graph, const Findings& findings) {
  if (config_.version_compatible || config_.hardware_compatible)
    plan_.kept = keep_model(graph, config_, plan_.model_name, plan_.device.kind, findings);
}

tune::TuneOptions PlanMaker::options_for(const ir::Graph& form, const std::vector<plan::Range>& ranges, BuildReport& report) {
  return {&config_, all_bounds(form), typical_shapes(form, ranges, config_), &cache_, &used_timings_, &report};
}

tune::Chosen PlanMaker::time(ir::Graph& form, const std::vector<plan::Range>& ranges, BuildReport& report, bool keep_merged) {
  tune::TuneOptions options = options_for(form, ranges, report);
  options.keep_merged = keep_merged;
  return tune::choose(form, backend_, tactics_, options);
}

// `report` gets the steps of the form that is taken.
PlanMaker::Tuned PlanMaker::fastest(const Profile& profile, BuildReport& report, const Way& way) {
  const std::vector<ir::Graph>& forms = profile.forms;
  Tuned best{ir::Graph(*registry_), {}};
  std::vector<std::int64_t> of_forms(forms.size());
  const std::vector<StepReport> steps = report.steps;
  const std::size_t first = way.form.value_or(0), end = way.form ? first + 1 : forms.size();
  for (std::size_t i = first; i < end; ++i) {
    ir::Graph cut = forms[i].clone();
    BuildReport now = report;
    now.steps = steps;
    tune::Chosen chosen = time(cut, profile.ranges, now, way.keep_merged);
    if (forms.size() > 1)
      Log(config_.log, Severity::verbose)(Severity::verbose, "form ", i + 1, " of ", forms.size(), ": ",
                                          static_cast<double>(chosen.nanoseconds) / 1e6, " ms");
    of_forms[i] = chosen.nanoseconds;
    const bool better = i == first || chosen.nanoseconds < best.chosen.nanoseconds;
    if (!better) now.steps = std::move(report.steps);
    report = std::move(now);
    if (better) best = {std::move(cut), std::move(chosen), i};
  }
  best.of_forms = std::move(of_forms);
  return best;
}

void PlanMaker::choose(std::vector<ir::Graph> forms, const std::vector<plan::Range>& ranges) {
  Stopwatch watch;
  const InStage stage("tuning");
  registry_ = &forms[0].registry();
  Profile& profile = profiles_.emplace_back(Profile{std::move(forms), ranges, report_.steps.size(), 0});
  tuned_.push_back(fastest(profile, report_, {}));
  profile.end_of_steps = report_.steps.size(), profile.of_forms = tuned_.back().of_forms;
  log_problems(report_.steps, profile.first_step, config_);
  if (report_.timed + report_.cache_hits > 0)
    report_.tuned_ms = std::max(report_.tuned_ms, 0.0) + static_cast<double>(tuned_.back().chosen.nanoseconds) / 1e6;
  report_.tune_s += watch.seconds();
  const double apart = std::round(report_.disturbance * (report_.disturbance < 10 ? 10 : 1)) / (report_.disturbance < 10 ? 10 : 1);
  if (report_.disturbed > 0)
    Log(config_.log)(Severity::info, "the machine was busy while candidates were timed: ", report_.disturbed, " of ", report_.timed_again,
                     " that were timed twice differ, by up to ", apart,
                     " times: build again on an idle machine, or time each more often (--avgTiming=N)");
}

void PlanMaker::assemble(Tuned tuned, const std::vector<plan::Range>& ranges) {
  Stopwatch watch;
  const InStage stage("assembling the plan");
  ir::Graph& graph = tuned.graph;
  std::vector<plan::Range> open;  // ranges that are still ranges
  for (const plan::Range& r : ranges)
    if (r.min != r.max) open.push_back(r);
  std::set<const ir::Node*> early;
  if (!config_.newest_row.empty()) early = passes::precomputed_nodes(graph, passes::parse_newest_row(config_.newest_row));
  plan_.programs.push_back(builder::assemble(graph, tuned.chosen.choice, constants_, {open, &backend_, std::move(early)}, plan_.needs));
  if (plan::Program& program = plan_.programs.back(); program.precomputed > 0) {
    const passes::NewestRow row = passes::parse_newest_row(config_.newest_row);
    const auto is_it = [&](const ir::Value* v) { return v->name == row.input; };
    program.rows_input = static_cast<std::int32_t>(std::find_if(graph.inputs.begin(), graph.inputs.end(), is_it) - graph.inputs.begin());
    program.rows_axis = row.axis;
  }
  if (!config_.newest_row.empty() && plan_.programs.back().precomputed == 0)
    Log(config_.log)(Severity::warning, "newest_row: no step comes before the newest row, for the kernels that were chosen read '",
                     config_.newest_row, "' in another layout, as a whole: precompute() does nothing");
  ir::finalize_names(graph, "tune");
  names_.programs.push_back(names_of(graph, plan_.programs.back()));
  if (graph.model_names) names_.table = *graph.model_names;
  if (plan_.bindings.empty()) name_bindings(graph);
  report_.assemble_s += watch.seconds();
}

void PlanMaker::add(ir::Graph graph, const std::vector<plan::Range>& ranges) {
  std::vector<ir::Graph> one;
  one.push_back(std::move(graph));
  choose(std::move(one), ranges);
}

// Least times of several processes can lead where none of them went: what they meet there is timed by the last to save, so that the
// next build finds all it asks for. Times of other problems lead nowhere. The plan keeps to the times it was chosen by, and is finished
// whatever happens here.
void PlanMaker::save_times() {
  constexpr int kMaxTimes = 8;   // others may save again and again
  Stopwatch watch;
  for (int i = 0; i < kMaxTimes; ++i) {
    tune::TimingCache shared = cache_.save(config_.timing_cache, Log(config_.log));
    const auto changed = [&](const tune::TimingKey& key) { return shared.find(key) != cache_.find(key); };
    if (std::none_of(used_timings_.begin(), used_timings_.end(), changed) || config_.error_on_cache_miss) return;
    cache_ = std::move(shared);
    BuildReport report;
    try {
      std::vector<Tuned> tuned;
      for (const Profile& profile : profiles_) tuned.push_back(fastest(profile, report, {}));
      if (limits_weights()) share_weights(std::move(tuned), report);
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::cancelled) throw;
      Log(config_.log)(Severity::warning, "the timing cache lacks what other builds' times lead to: ", e.what());
      return;
    }
    report_.timed += report.timed, report_.timed_again += report.timed_again;
    report_.tune_s += watch.seconds();
  }
}

// Times that come out of a cache were taken with the clocks that the cache has; so equal caches make equal plans.
void PlanMaker::note_clocks() {
  if (report_.timed + report_.cache_hits == 0) return;
  for (const backends::Clock& clock : backend_.timing().clocks()) {
    constexpr double kCycles = 1e12;   // in nanoseconds, by kHz
    constexpr std::int64_t kMhz = 1000;
    const tune::TimingKey key{plan_.device.name, "a million cycles of the " + clock.of, "clock v1", ""};
    const double now = static_cast<double>((clock.khz + kMhz / 2) / kMhz * kMhz);
    const std::optional<double> known = cache_.find(key);
    if (!known && now > 0) cache_.insert(key, kCycles / now);
    const double khz = known && *known > 0 ? kCycles / *known : now;
    plan_.built.clocks.push_back({clock.of, std::llround(khz / kMhz) * kMhz});
  }
}

plan::Plan PlanMaker::finish() {
  assemble();
  const InStage stage("finishing the plan");
  note_clocks();
  plan_.built.options = options_in_words(config_) + shared_in_words_;
  if (config_.keep_portable_graph) plan_.portable = portable_.text(plan_, constants_, tactics_, *registry_, Log(config_.log));
  if (old_refit_ && !old_refit_->weights.empty()) plan_.refit = rebase(*old_refit_, constants_.origins(), *registry_);
  else if (config_.refittable) plan_.refit = refit_.write(constants_.origins(), *registry_);
  constants_.move_into(plan_);
  log_memory(plan_, config_);
  if (!names_.table.tensors.empty()) plan_.names = plan::write_names(names_);
  if (!config_.timing_cache.empty()) save_times();
  if (config_.timings) config_.timings->impl().merge(cache_);
  return std::move(plan_);
}

}  // namespace tenfold::builder
