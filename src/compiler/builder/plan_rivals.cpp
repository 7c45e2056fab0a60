// Kernels chosen by their times alone, and their rivals: which are faster in the model.
#include <algorithm>

#include "base/log.h"
#include "builder/in_model/model_runs.h"
#include "builder/plan_maker.h"
#include "builder/stages.h"
#include "builder/stopwatch.h"
#include "builder/time_limit.h"
#include "tune/choice/layout_choice.h"

namespace tenfold::builder {
namespace {

constexpr int kMinLevel = 4;
constexpr std::int64_t kMaxWeights = 128 << 20;   // packing may make several times as much of them, and two engines hold them
constexpr std::int64_t kMinNs = 20'000, kMaxNs = 1'000'000'000;   // of a run: below it is the clock's and the caller's

// How often bodies run is decided by data, and these are made up.
bool has_bodies(const ir::Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const auto& node) { return !node->graphs.empty(); });
}

}  // namespace

// Several profiles share weights in forms that were chosen for all of them. On a GPU steps that are timed do not overlap, as in a run.
void PlanMaker::try_rivals() {
  const bool fits = tuned_.size() == 1 && backend_.memory().host_reads() && times_kernels(config_) && config_.newest_row.empty() &&
                    config_.optimization_level >= kMinLevel && config_.timing_repetitions == 0 && !config_.choose_tactic;
  if (!fits) return;
  Tuned& tuned = tuned_[0];
  const std::int64_t alone = tuned.chosen.nanoseconds;
  if (alone < kMinNs || alone > kMaxNs || has_bodies(tuned.graph) || constant_bytes(tuned.graph) > kMaxWeights) return;
  Stopwatch watch;
  const InStage stage("timing kernels in the model");
  plan::Plan base;
  base.device = plan_.device, base.needs = plan_.needs, base.keeps_denormals = plan_.keeps_denormals;
  base.model_name = plan_.model_name, base.builder = plan_.builder;
  for (const auto* list : {&tuned.graph.inputs, &tuned.graph.outputs})
    for (const ir::Value* v : *list) base.bindings.push_back({v->name, v->type, list == &tuned.graph.inputs});
  BuildConfig quiet = config_;
  quiet.log = nullptr;
  const tune::TuneOptions options = options_for(tuned.graph, profiles_[0].ranges, report_);
  try {
    const ModelRuns runs = runs_in_turns(tuned.graph, base, profiles_[0].ranges, quiet, shared_backend_);
    const InModelReport report = builder::try_rivals(tuned.graph, tuned.chosen, options, plan_.device, runs);
    const std::string ratio = cat("; with them a run takes ", report.ratio, " of its time");
    Log(config_.log, Severity::verbose)(Severity::verbose, "timed in the model: rivals of ", report.tried, " problems, ", report.changed,
                                        " of which were faster there", report.ratio != 1 ? ratio : "");
    if (report.changed > 0) {
      for (StepReport& step : report_.steps)
        for (TacticReport& t : step.tried) t.chosen = false;
      tune::mark_chosen(tuned.chosen.choice, report_.steps);
      if (report_.tuned_ms >= 0) report_.tuned_ms += static_cast<double>(tuned.chosen.nanoseconds - alone) / 1e6;
    }
  } catch (const std::exception& e) {   // inputs that were made up need not be such as the model takes; memory may be short, too
    if (const auto* error = dynamic_cast<const Error*>(&e); error && error->kind() == ErrorKind::cancelled) throw;
    Log(config_.log, Severity::verbose)(Severity::verbose, "kernels were not timed in the model: ", e.what());
  }
  report_.tune_s += watch.seconds();
}

}  // namespace tenfold::builder
