#include "builder/in_model/rivals.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/files/hash.h"
#include "tune/choice/node_problem.h"
#include "tune/timing/timer.h"

namespace tenfold::builder {
namespace {

using tune::Candidate;
using tune::Choice;

constexpr double kNear = 1.15;          // of the best time, alone: what may win in the model
constexpr std::size_t kRivals = 2;      // of a problem
constexpr double kMinShare = 0.005;     // of a run: what takes less is below the clock
constexpr double kClearly = 0.97;       // of the time so far: else chance decides

// Nodes of one problem, which have one kernel, and what else may be as fast.
struct Group {
  std::string problem;
  std::vector<const ir::Node*> nodes;
  std::vector<Candidate> others;
};

std::string problem_line(const ir::Node& node, const backends::Formats& formats, const tune::TuneOptions& options,
                         const backends::DeviceInfo& device) {
  return tune::at_point(tune::node_problem(node, &formats, options.box, device, options.config->workspace_bytes), options.opt).line();
}

bool is_same(const tune::NodeChoice& a, const tune::NodeChoice& b) { return a.tactic == b.tactic && a.config == b.config; }

// What a node takes with that kernel by the tuner, alone; 0: it was not timed.
std::int64_t alone(const ir::Node& node, const tune::NodeChoice& own, const tune::Chosen& chosen) {
  if (const auto timed = chosen.timed.find(&node); timed != chosen.timed.end())
    for (const Candidate& c : timed->second)
      if (is_same(c.choice, own)) return c.nanoseconds;
  return 0;
}

std::vector<Candidate> others_of(const ir::Node& node, const tune::NodeChoice& own, const tune::Chosen& chosen) {
  const double limit = kNear * static_cast<double>(alone(node, own, chosen));
  std::vector<Candidate> others;
  if (limit == 0) return others;
  for (const Candidate& c : chosen.timed.at(&node))
    if (!is_same(c.choice, own) && static_cast<double>(c.nanoseconds) < limit) others.push_back(c);
  std::ranges::stable_sort(others, {}, &Candidate::nanoseconds);
  if (others.size() > kRivals) others.resize(kRivals);
  return others;
}

std::vector<Group> groups_of(const ir::Graph& graph, const tune::Chosen& chosen, const tune::TuneOptions& options,
                             const backends::DeviceInfo& device) {
  std::vector<Group> groups;
  for (const auto& node : graph.nodes()) {
    const auto own = chosen.choice.find(node.get());
    if (own == chosen.choice.end() || !own->second.tactic) continue;
    const std::string line = problem_line(*node, own->second.formats, options, device);
    const auto joins = [&](const Group& g) { return g.problem == line && is_same(chosen.choice.at(g.nodes[0]), own->second); };
    if (const auto known = std::ranges::find_if(groups, joins); known != groups.end()) known->nodes.push_back(node.get());
    else groups.push_back({line, {node.get()}, others_of(*node, own->second, chosen)});
  }
  const auto nanoseconds = [&](const Group& g) {
    return g.others.empty() ? 0.0 : static_cast<double>(g.others[0].nanoseconds) * static_cast<double>(g.nodes.size());
  };
  std::erase_if(groups, [&](const Group& g) { return nanoseconds(g) < kMinShare * static_cast<double>(chosen.nanoseconds); });
  return groups;
}

// Two choices of one graph, and what the cache knows of their runs.
class KnownTimes {
 public:
  KnownTimes(const ir::Graph& graph, const tune::TuneOptions& options, const backends::DeviceInfo& device)
      : graph_(graph), options_(options), device_(device), machine_(tune::timing_machine(device, *options.config)) {}

  // What surrounds a step: all problems with their kernels.
  std::string surroundings(const Choice& choice) const {
    std::string text;
    for (const auto& node : graph_.nodes())
      if (const auto own = choice.find(node.get()); own != choice.end() && own->second.tactic)
        text += cat(problem_line(*node, own->second.formats, options_, device_), " ", own->second.tactic->name, " ",
                    tune::config_text(own->second.config, own->second.formats), "\n");
    const Hash128 hash = hash128(std::as_bytes(std::span(text)));
    return cat(machine_, "; in the model ", hash.high, " ", hash.low);
  }
  tune::TimingKey step(const std::string& surroundings, const Group& group, const tune::NodeChoice& own) const {
    return {surroundings, group.problem, cat(own.tactic->name, " v", own.tactic->version), tune::config_text(own.config)};
  }
  static tune::TimingKey run(const std::string& surroundings, const std::string& of) { return {surroundings, "a run", "all v1", of}; }
  std::optional<double> find(const tune::TimingKey& key) const { return options_.cache->find(key); }
  void keep(const tune::TimingKey& key, double nanoseconds) const { options_.cache->insert(key, nanoseconds); }

 private:
  const ir::Graph& graph_;
  const tune::TuneOptions& options_;
  const backends::DeviceInfo& device_;
  std::string machine_;
};

double sum_of(const Group& group, const ModelRuns::StepTimes& steps) {
  double sum = 0;
  for (const ir::Node* node : group.nodes)
    if (const auto at = steps.find(node->name); at != steps.end()) sum += at->second;
  return sum;
}

// The times of each group with its present kernel and with its rival of that turn, from the cache or measured; empty: neither.
struct Pair { const Group* group = nullptr; double own = 0, other = 0; };
std::vector<Pair> times_of(const std::vector<Group>& groups, std::size_t turn, const Choice& now, const KnownTimes& known,
                           const tune::TuneOptions& options, const ModelRuns& runs) {
  std::vector<Pair> pairs;
  Choice other = now;
  for (const Group& g : groups) {
    if (g.others.size() <= turn) continue;
    pairs.push_back({&g});
    for (const ir::Node* node : g.nodes) other[node] = g.others[turn].choice;
  }
  const std::string surroundings = known.surroundings(now);
  const auto keys = [&](const Group& g) {
    return std::pair(known.step(surroundings, g, now.at(g.nodes[0])), known.step(surroundings, g, other.at(g.nodes[0])));
  };
  const auto missing = [&](const Pair& p) { return !known.find(keys(*p.group).first) || !known.find(keys(*p.group).second); };
  if (std::ranges::any_of(pairs, missing)) {
    if (options.config->error_on_cache_miss) return {};
    const auto [first, second] = runs.steps(now, other);
    for (const Pair& p : pairs) {
      const auto [own, rival] = keys(*p.group);
      known.keep(own, sum_of(*p.group, first)), known.keep(rival, sum_of(*p.group, second));
    }
  }
  for (Pair& p : pairs) {
    const auto [own, rival] = keys(*p.group);
    p.own = known.find(own).value_or(0), p.other = known.find(rival).value_or(0);
  }
  return pairs;
}

// Whether the whole run is shorter so: what is faster alone and behind the others may still cost its neighbors more.
bool is_shorter(const Choice& before, const Choice& after, const KnownTimes& known, const tune::TuneOptions& options,
                const ModelRuns& runs, InModelReport& report) {
  const std::string surroundings = known.surroundings(after);
  const tune::TimingKey of_first = KnownTimes::run(surroundings, "before"), of_second = KnownTimes::run(surroundings, "after");
  if (!known.find(of_first) || !known.find(of_second)) {
    if (options.config->error_on_cache_miss) return false;
    const auto [first, second] = runs.whole(before, after);
    known.keep(of_first, first), known.keep(of_second, second);
  }
  report.run_before = known.find(of_first).value_or(0), report.run_after = known.find(of_second).value_or(0);
  return report.run_after < report.run_before;
}

}  // namespace

InModelReport try_rivals(const ir::Graph& graph, tune::Chosen& chosen, const tune::TuneOptions& options,
                         const backends::DeviceInfo& device, const ModelRuns& runs) {
  InModelReport report;
  const std::vector<Group> groups = groups_of(graph, chosen, options, device);
  const KnownTimes known(graph, options, device);
  report.tried = static_cast<int>(groups.size());
  Choice now = chosen.choice;
  for (std::size_t turn = 0; turn < kRivals; ++turn)
    for (const Pair& p : times_of(groups, turn, now, known, options, runs))
      if (p.own > 0 && p.other > 0 && p.other < kClearly * p.own)
        for (const ir::Node* node : p.group->nodes) now[node] = p.group->others[turn].choice;
  const auto changed = [&](const Group& g) { return !is_same(now.at(g.nodes[0]), chosen.choice.at(g.nodes[0])); };
  const auto count = static_cast<int>(std::ranges::count_if(groups, changed));
  if (count == 0 || !is_shorter(chosen.choice, now, known, options, runs, report)) return report;
  report.changed = count;
  for (const auto& node : graph.nodes())
    if (const auto own = now.find(node.get()); own != now.end())
      chosen.nanoseconds += alone(*node, own->second, chosen) - alone(*node, chosen.choice.at(node.get()), chosen);
  chosen.choice = std::move(now);
  return report;
}

}  // namespace tenfold::builder
