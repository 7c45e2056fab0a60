// The whole-graph choice: candidates of every node, reformat costs on every edge, and the cheapest combination.
#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "tune/choice/unfuse.h"
#include "tune/choice/layout_choice.h"
#include "tune/timing/second_round.h"
#include "tenfold/internal/interrupts.h"
#include "tune/tuner.h"

namespace tenfold::tune {
namespace {

void count_nodes(const ir::Graph& graph, int& count) {
  for (const auto& n : graph.nodes()) {
    ++count;
    for (const auto& g : n->graphs) count_nodes(*g, count);
  }
}

void throw_if_cancelled(const TuneOptions& options, int done, int total) {
  tenfold::throw_if_cancelled();
  if (options.config->progress)
    require(options.config->progress({options.phase, done, total}), ErrorKind::cancelled, "the build was cancelled while tuning");
}

struct Chooser {
  backends::Backend& backend;
  const TuneOptions& options;
  Candidates candidates;
  Chosen chosen = {};
  int done = 0, total = 0;   // nodes; those that others are taken apart into count in both

  void step() {
    ++done;
    throw_if_cancelled(options, done, total);
  }
  void run(ir::Graph& graph) {
    const auto before = static_cast<int>(graph.nodes().size());
    std::vector<ir::Node*> products;   // only these: taking one apart removes the Split behind it
    for (ir::Node* node : graph.node_list())
      if (node->def->traits.gemm_kind == ir::GemmKind::matrix) products.push_back(node);
    if (!options.keep_merged)
      for (ir::Node* node : products) chosen.unmerged += unmerge_if_better(graph, *node, candidates);
    for (ir::Node* node : graph.node_list()) decompose_if_better(graph, *node, candidates);
    total += static_cast<int>(graph.nodes().size()) - before;
    for (ir::Node* node : graph.node_list()) {
      for (const auto& body : node->graphs) run(*body);
      if (node->graphs.empty() && !touches_objects(*node) && !is_view(*node)) unfuse_if_better(graph, *node, candidates);
      step();
    }
    graph.sort();
    chosen.nanoseconds += choose_layouts(graph, candidates, options, chosen.choice);
    for (const auto& node : graph.nodes()) keep_timed(*node);
  }
  void keep_timed(const ir::Node& node) {
    const auto at = chosen.choice.find(&node);
    if (at == chosen.choice.end()) return;
    const backends::Formats& formats = at->second.formats;
    for (const Candidate& c : candidates.timed(node))
      if (c.choice.formats.in == formats.in && c.choice.formats.out == formats.out) chosen.timed[&node].push_back(c);
  }
};

// The same walk as the one that measures, on a copy, as far as guessed times lead the same way.
void compile_ahead(const ir::Graph& graph, backends::Backend& backend, const backends::TacticSet& tactics, const TuneOptions& options,
                   bool cold_weights) {
  TimingCache cache = *options.cache;
  BuildConfig config = *options.config;
  config.progress = nullptr, config.error_on_cache_miss = false;
  TuneOptions quiet = options;
  quiet.config = &config, quiet.cache = &cache, quiet.used_timings = nullptr, quiet.report = nullptr;
  const std::unique_ptr<Timer> survey = survey_timer(), cached = cached_timer(*survey, backend.info(), quiet, cold_weights);
  ir::Graph copy = graph.clone();
  Chooser chooser{backend, quiet, Candidates(backend, tactics, *cached, quiet)};
  chooser.run(copy);
}

}  // namespace

Chosen choose_once(ir::Graph& graph, backends::Backend& backend, const backends::TacticSet& tactics, const TuneOptions& options,
                   Timer& timer, bool cold_weights) {
  const std::unique_ptr<Timer> cached = cached_timer(timer, backend.info(), options, cold_weights);
  Chooser chooser{backend, options, Candidates(backend, tactics, *cached, options)};
  count_nodes(graph, chooser.total);
  chooser.run(graph);
  return std::move(chooser.chosen);
}

Chosen choose(ir::Graph& graph, backends::Backend& backend, const backends::TacticSet& tactics, const TuneOptions& options) {
  const int threads = options.config->threads;
  const bool cold_weights = weights_leave_caches(graph, backend.info(), threads);
  if (backend.code()) compile_ahead(graph, backend, tactics, options, cold_weights);
  if (options.config->random_choices)
    return choose_once(graph, backend, tactics, options, *random_timer(options.config->random_choices), cold_weights);
  const int level = options.config->optimization_level;
  const std::unique_ptr<Timer> timer = clock_timer(backend, *options.config, cold_weights);
  // Programs that take a GPU's time are rare, and its candidates take longer to time.
  if (level <= 1 || !backend.memory().host_reads()) return choose_once(graph, backend, tactics, options, *timer, cold_weights);
  return choose_twice(graph, backend, tactics, options, *timer, cold_weights);
}

// All that depends on time, cuts too, is decided anew once times have been confirmed. A walk that measures nothing was the last: so
// does the same build that finds its times in the cache end.
Chosen choose_twice(ir::Graph& graph, backends::Backend& backend, const backends::TacticSet& tactics, const TuneOptions& options,
                    Timer& timer, bool cold_weights) {
  constexpr int kRounds = 2;
  BuildReport ignored, &report = options.report ? *options.report : ignored;
  for (int round = 0;; ++round) {
    SecondRound second;
    BuildReport walked;
    TuneOptions now = options;
    now.report = &walked, now.second_round = &second, now.phase = round == 0 ? "tune" : "confirm";
    ir::Graph copy = graph.clone();
    Chosen chosen = choose_once(copy, backend, tactics, now, timer, cold_weights);
    report.timed += walked.timed;
    if (round == 0) report.cache_hits += walked.cache_hits;
    if (second.empty() || round == kRounds) {
      std::move(walked.steps.begin(), walked.steps.end(), std::back_inserter(report.steps));
      graph = std::move(copy);
      return chosen;
    }
    const SecondRound::Result result = second.run(timer, *options.cache, [&](int done, int total) {
      now.phase = "confirm";
      throw_if_cancelled(now, done, total);
    });
    report.timed_again += result.timed, report.disturbed += result.disturbed;
    report.disturbance = std::max(report.disturbance, result.factor);
  }
}

}  // namespace tenfold::tune
