#include "builder/reference_shares.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/log.h"
#include "builder/example_inputs.h"
#include "builder/precision/observed_runs.h"
#include "builder/stages.h"
#include "builder/stopwatch.h"
#include "runtime/engine/opened.h"
#include "tenfold/bindings.h"

namespace tenfold::builder {
namespace {

constexpr double kMuch = 0.1;   // of a run

using Times = std::map<std::string, double, std::less<>>;   // milliseconds by step

// Of the second run where the first is short, which warms up then.
Times times_of_run(const Engine& engine, const BuildConfig& config) {
  constexpr double kShortSeconds = 0.5;
  const auto context = engine.create_context();
  std::vector<std::string> names;
  for (const BindingInfo& b : engine.bindings())
    if (b.is_input) names.push_back(b.name);
  const std::vector<RuntimeValue> inputs = in_order(example_inputs(engine, config), names);
  Times times;
  context->set_profiler([&](std::string_view step, double milliseconds) {
    const auto at = times.find(step);
    (at != times.end() ? at->second : times[std::string(step)]) += milliseconds;
  });
  Stopwatch watch;
  run_values(*context, inputs);
  if (watch.seconds() > kShortSeconds) return times;
  times.clear();
  run_values(*context, inputs);
  return times;
}

std::string percent(double share) {
  const double of_hundred = 100 * share;
  return of_hundred < 1 ? "less than 1 %" : cat(std::round(of_hundred), " %");
}

void report_shares(Engine& engine, const Times& times, const Log& log) {
  double all = 0, slow = 0;
  for (const auto& [step, ms] : times) all += ms;
  if (!(all > 0)) return;
  std::vector<std::pair<double, std::string>> shares;
  for (Note& note : runtime::state_of(engine)->info.notes) {
    const auto at = times.find(note.step);
    if (note.kind != NoteKind::reference_kernel || note.step.empty() || at == times.end()) continue;
    const double share = at->second / all;
    note.text += cat("; on one thread it takes ", percent(share), " of a run's time (", at->second, " ms when the plan was built)");
    if (share >= kMuch) note.severity = std::max(note.severity, Severity::warning);
    slow += share;
    shares.emplace_back(share, cat("'", note.step, "' ", percent(share)));
  }
  if (shares.empty()) return;
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t kNamed = 5;
  std::string named;
  for (std::size_t i = 0; i < std::min(kNamed, shares.size()); ++i) named += cat(i ? ", " : "", shares[i].second);
  if (const std::size_t more = shares.size() - std::min(kNamed, shares.size()); more > 0)
    named += cat(" and ", more, more == 1 ? " other" : " others");
  log(slow >= kMuch ? Severity::warning : Severity::info, "reference kernels run on one thread, and take ", percent(slow),
      " of a run's time: ", named);
}

}  // namespace

void measure_reference_steps(Engine& engine, const BuildConfig& config) {
  const std::vector<Note>& notes = engine.info().notes;
  const auto is_slow = [](const Note& n) { return n.kind == NoteKind::reference_kernel; };
  if (!times_kernels(config) || std::none_of(notes.begin(), notes.end(), is_slow)) return;
  try {
    report_shares(engine, times_of_run(engine, config), Log(config.log));
  } catch (const Error&) {
    // Inputs that were made up need not be such as the model takes.
  }
}

}  // namespace tenfold::builder
