#include "builder/verbose.h"

#include <algorithm>
#include <cmath>

namespace tenfold::builder {
namespace {

Log verbose_log(const BuildConfig& config) { return Log(config.log, Severity::verbose); }

std::string microseconds(double nanoseconds) {
  const auto hundredths = std::llround(nanoseconds / 10);
  return cat(hundredths / 100, ".", hundredths % 100 < 10 ? "0" : "", hundredths % 100, " us");
}

std::string kibibytes(std::int64_t bytes) { return cat((bytes + 1023) / 1024, " KiB"); }

std::size_t nodes_of(const ir::Graph& graph) {
  std::size_t count = 0;
  for (const auto& node : graph.nodes()) {
    ++count;
    for (const auto& body : node->graphs) count += nodes_of(*body);
  }
  return count;
}

std::string candidate_text(const TacticReport& t, bool timed) {
  const std::string name = t.config.empty() ? t.tactic : cat(t.tactic, " ", t.config);
  const std::string reported = !t.verdict.empty() ? t.verdict : !timed ? "it can run; nothing is timed" : microseconds(t.nanoseconds);
  return cat("  ", name, ": ", reported, t.chosen ? ", chosen" : "");
}

}  // namespace

passes::RunOptions with_logged_passes(passes::RunOptions options, const BuildConfig& config) {
  const Log log = verbose_log(config);
  if (!log.enabled(Severity::verbose)) return options;
  options.changed = [log, next = std::move(options.changed)](std::string_view pass, const ir::Graph& graph) {
    const std::size_t now = nodes_of(graph);
    const std::string nodes = cat(now, now == 1 ? " node" : " nodes");
    if (pass == "import") log(Severity::verbose, "the graph has ", nodes);
    else log(Severity::verbose, "pass ", pass, " changed the graph, which has ", nodes, " now");
    if (next) next(pass, graph);
  };
  return options;
}

void log_problems(const std::vector<StepReport>& steps, std::size_t first, const BuildConfig& config) {
  const Log log = verbose_log(config);
  if (!log.enabled(Severity::verbose)) return;
  const bool timed = config.optimization_level > 0;
  for (std::size_t i = first; i < steps.size(); ++i) {
    const StepReport& step = steps[i];
    const auto can = [](const TacticReport& t) { return t.verdict.empty(); };
    log(Severity::verbose, "problem of step '", step.node, "': ", step.problem, ": ",
        std::count_if(step.tried.begin(), step.tried.end(), can), " of ", step.tried.size(), " candidates can run");
    for (const TacticReport& t : step.tried) log(Severity::verbose, candidate_text(t, timed));
  }
}

void log_memory(const plan::Plan& plan, const BuildConfig& config) {
  const Log log = verbose_log(config);
  if (!log.enabled(Severity::verbose)) return;
  log(Severity::verbose, "memory: ", kibibytes(plan.weights_bytes), " of weights in ", plan.constants.size(), " constants");
  for (std::size_t p = 0; p < plan.programs.size(); ++p)
    log(Severity::verbose, "memory of program ", p, ": ", plan.programs[p].steps.size(), " steps, ",
        kibibytes(plan.programs[p].arena_bytes), " of activations, of which at most ",
        kibibytes(plan.programs[p].arena_live_bytes), " are in use at a time");
}

}  // namespace tenfold::builder
