// Weights once: what the profiles of a plan hold together, and the programs that come of it.
#include <algorithm>
#include <cstdio>

#include "base/log.h"
#include "builder/diagnostics.h"
#include "builder/plan_maker.h"
#include "builder/precision/choose_precision.h"
#include "builder/stopwatch.h"
#include "builder/time_limit.h"
#include "tune/choice/layout_choice.h"
#include "tune/timing/timer.h"

namespace tenfold::builder {
namespace {

std::string mebibytes(std::int64_t bytes) {
  char text[48];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

// 1.034 as "+3.4 %"
std::string percent(double times) {
  char text[48];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * (times - 1) + 0.0);
  return text;
}

double times(const tune::Chosen& chosen, std::int64_t least) {
  return static_cast<double>(chosen.nanoseconds) / std::max<double>(1, static_cast<double>(least));
}

}  // namespace

bool PlanMaker::limits_weights() const {
  return profiles_.size() > 1 && config_.max_weight_ratio > 0 && (config_.optimization_level > 0 || config_.random_choices);
}

std::int64_t PlanMaker::limit_of(const tune::WeightBytes& bytes) const {
  return static_cast<std::int64_t>(config_.max_weight_ratio * static_cast<double>(bytes.alone));
}

PlanMaker::Shared PlanMaker::share(std::vector<Tuned> tuned, const std::vector<std::int64_t>& least, BuildReport& report) {
  std::vector<tune::TuneOptions> options;
  for (std::size_t p = 0; p < tuned.size(); ++p)
    options.push_back(options_for(profiles_[p].forms[tuned[p].form], profiles_[p].ranges, report));
  std::vector<tune::ProfileChoice> choices;
  for (std::size_t p = 0; p < tuned.size(); ++p)
    choices.push_back({&profiles_[p].forms[tuned[p].form], &tuned[p].graph, &tuned[p].chosen, &options[p]});
  Shared shared{{}, tune::share_weights(choices, backend_, config_.max_weight_ratio)};
  for (std::size_t p = 0; p < tuned.size(); ++p) shared.cost += times(tuned[p].chosen, least[p]) - 1;
  shared.tuned = std::move(tuned);
  return shared;
}

// Profiles that cut a merged product in parts need these beside the whole that others read, and forms in other types or layouts have
// weights of their own: kernels alone cannot agree then. So these ways are looked at, too.
PlanMaker::Shared PlanMaker::share_weights(std::vector<Tuned> tuned, BuildReport& report) {
  std::vector<std::int64_t> least;
  for (const Tuned& t : tuned) least.push_back(t.chosen.nanoseconds);
  const bool cut = std::any_of(tuned.begin(), tuned.end(), [](const Tuned& t) { return t.chosen.unmerged > 0; });
  const bool forms_differ = std::any_of(tuned.begin(), tuned.end(), [&](const Tuned& t) { return t.form != tuned[0].form; });
  std::size_t forms = profiles_[0].forms.size();
  for (const Profile& p : profiles_) forms = std::min(forms, p.forms.size());
  std::vector<Way> ways;
  if (cut) ways.push_back({{}, true});
  for (std::size_t form = 0; forms_differ && form < forms; ++form) {
    ways.push_back({form, false});
    if (cut) ways.push_back({form, true});
  }
  Shared best = share(std::move(tuned), least, report);
  const std::int64_t limit = limit_of(best.bytes);
  if (best.bytes.fastest <= limit) return best;
  const std::int64_t fastest_bytes = best.bytes.fastest;
  const auto excess = [&](const Shared& s) { return std::max<std::int64_t>(s.bytes.held - limit, 0); };
  for (const Way& way : ways) {
    std::vector<Tuned> other;
    for (const Profile& p : profiles_) other.push_back(fastest(p, report, way));
    Shared shared = share(std::move(other), least, report);
    if (std::pair(excess(shared), shared.cost) < std::pair(excess(best), best.cost)) best = std::move(shared);
  }
  best.bytes.fastest = fastest_bytes;
  return best;
}

void PlanMaker::report_weights(const Shared& shared, const std::vector<std::int64_t>& least) {
  const tune::WeightBytes& bytes = shared.bytes;
  const auto text_of = [](const tune::Candidate& c) {
    return cat(c.choice.tactic->name, " ", tune::config_text(c.choice.config), " (", static_cast<double>(c.nanoseconds) / 1e3, " us)");
  };
  for (const tune::WeightBytes::Changed& c : bytes.changed)
    Log(config_.log, Severity::verbose)(Severity::verbose, "step '", c.node->name, "' of profile ", c.profile, ": ", text_of(c.to),
                                        " in place of ", text_of(c.from), ": its weights are packed for other profiles, too");
  std::string cost;
  for (std::size_t p = 0; p < shared.tuned.size(); ++p) cost += cat(p ? ", " : "", percent(times(shared.tuned[p].chosen, least[p])));
  std::string text =
      cat("packed weights of ", profiles_.size(), " profiles take ", mebibytes(bytes.held), " in place of ", mebibytes(bytes.fastest),
          ", those of one take ", mebibytes(bytes.alone), "; times of the profiles change by ", cost, " by the tuner's measurements");
  if (bytes.held > limit_of(bytes)) text += cat("; more than ", config_.max_weight_ratio, " times as much, but no more can be shared");
  shared_in_words_ = "; weights shared: " + text;
  text += " (max_weight_ratio, --maxWeightRatio; 0 keeps every profile's fastest kernels)";
  add_note({Severity::info, NoteKind::message, "", std::move(text)}, config_, report_);
}

// In the report of a profile's steps, what they have now.
void PlanMaker::mark(std::size_t profile, const Shared& shared) {
  const Profile& of = profiles_[profile];
  const std::span<StepReport> steps = std::span(report_.steps).subspan(of.first_step, of.end_of_steps - of.first_step);
  for (StepReport& step : steps)
    for (TacticReport& t : step.tried) t.chosen = false;
  tune::mark_chosen(shared.tuned[profile].chosen.choice, steps);
  for (const tune::WeightBytes::Changed& c : shared.bytes.changed) {
    const auto step = std::ranges::find(steps, c.node->name, &StepReport::node);
    if (c.profile != profile || step == steps.end() || std::ranges::any_of(step->tried, &TacticReport::chosen)) continue;
    step->tried.push_back({c.to.choice.tactic->name, tune::config_text(c.to.choice.config, c.to.choice.formats), "",
                           static_cast<double>(c.to.nanoseconds), true});
  }
}

void PlanMaker::assemble() {
  if (limits_weights()) {
    Stopwatch watch;
    const InStage stage("sharing weights between profiles");
    std::vector<std::int64_t> least;
    for (const Tuned& t : tuned_) least.push_back(t.chosen.nanoseconds);
    BuildReport report = report_;
    Shared shared = share_weights(std::move(tuned_), report);
    report_.timed = report.timed, report_.cache_hits = report.cache_hits, report_.timed_again = report.timed_again;
    if (shared.bytes.held < shared.bytes.fastest) {
      report_weights(shared, least);
      for (std::size_t p = 0; p < least.size(); ++p) {
        if (report_.tuned_ms >= 0) report_.tuned_ms += static_cast<double>(shared.tuned[p].chosen.nanoseconds - least[p]) / 1e6;
        mark(p, shared);
      }
    }
    tuned_ = std::move(shared.tuned);
    report_.tune_s += watch.seconds();
  }
  try_rivals();
  for (std::size_t p = 0; p < profiles_.size(); ++p) {
    report_types({profiles_[p].forms, profiles_[p].of_forms, tuned_[p].form, p, profiles_.size()}, config_, report_);
    if (config_.keep_portable_graph) portable_.add(profiles_[p].forms[tuned_[p].form]);   // without the cuts
    if (config_.timing_cache.empty()) profiles_[p].forms.clear();
    assemble(std::move(tuned_[p]), profiles_[p].ranges);
  }
}

}  // namespace tenfold::builder
