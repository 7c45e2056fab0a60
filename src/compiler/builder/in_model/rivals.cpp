#include "builder/in_model/rivals.h"

#include <algorithm>
#include <map>
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

std::string text_of(const tune::NodeChoice& own) {
  return cat(own.tactic->name, " v", own.tactic->version, " ", tune::config_text(own.config, own.formats));
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
  std::map<std::string, std::size_t> places;   // by problem and kernel
  for (const auto& node : graph.nodes()) {
    const auto own = chosen.choice.find(node.get());
    if (own == chosen.choice.end() || !own->second.tactic) continue;
    const std::string line = problem_line(*node, own->second.formats, options, device);
    const auto [at, fresh] = places.try_emplace(cat(line, "\n", text_of(own->second)), groups.size());
    if (fresh) groups.push_back({line, {}, others_of(*node, own->second, chosen)});
    groups[at->second].nodes.push_back(node.get());
  }
  const auto nanoseconds = [&](const Group& g) {
    return g.others.empty() ? 0.0 : static_cast<double>(g.others[0].nanoseconds) * static_cast<double>(g.nodes.size());
  };
  std::erase_if(groups, [&](const Group& g) { return nanoseconds(g) < kMinShare * static_cast<double>(chosen.nanoseconds); });
  return groups;
}

// What the cache knows of runs with two choices of one graph. Ratios, for absolute times were taken at another speed of the machine: what
// the second takes where the first takes a millisecond.
class KnownRatios {
 public:
  KnownRatios(const ir::Graph& graph, const tune::TuneOptions& options, const backends::DeviceInfo& device)
      : graph_(graph), options_(options), device_(device), machine_(tune::timing_machine(device, *options.config)) {}

  // What surrounds a step: all problems with their kernels.
  std::string surroundings(const Choice& choice) const {
    std::string text;
    for (const auto& node : graph_.nodes())
      if (const auto own = choice.find(node.get()); own != choice.end() && own->second.tactic)
        text += cat(problem_line(*node, own->second.formats, options_, device_), " ", text_of(own->second), "\n");
    const Hash128 hash = hash128(std::as_bytes(std::span(text)));
    return cat(hash.high, " ", hash.low);
  }
  tune::TimingKey step(const std::string& surroundings, const Group& group, const tune::NodeChoice& own,
                       const tune::NodeChoice& other) const {
    return {cat(machine_, "; in the model ", surroundings), group.problem, text_of(other), cat("for ", text_of(own))};
  }
  tune::TimingKey run(const Choice& before, const Choice& after) const {
    return {cat(machine_, "; in the model ", surroundings(before)), "a run", "all v1", surroundings(after)};
  }
  std::optional<double> find(const tune::TimingKey& key) const {
    const std::optional<double> known = options_.cache->find(key);
    if (known && options_.used_timings) options_.used_timings->insert(key);
    return known ? std::optional(*known / kMillisecond) : std::nullopt;
  }
  void keep(const tune::TimingKey& key, double first, double second) const {
    if (first > 0 && second > 0 && !options_.cache->find(key)) options_.cache->insert(key, kMillisecond * second / first);
  }

 private:
  static constexpr double kMillisecond = 1e6;
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

// What each group takes with its rival of that turn, by what it takes with its present kernel; from the cache or measured. Empty: neither.
struct Pair { const Group* group = nullptr; double ratio = 1; };
std::vector<Pair> ratios_of(const std::vector<Group>& groups, std::size_t turn, const Choice& now, const KnownRatios& known,
                            const tune::TuneOptions& options, const ModelRuns& runs) {
  std::vector<Pair> pairs;
  Choice other = now;
  for (const Group& g : groups) {
    if (g.others.size() <= turn) continue;
    pairs.push_back({&g});
    for (const ir::Node* node : g.nodes) other[node] = g.others[turn].choice;
  }
  const std::string surroundings = known.surroundings(now);
  const auto key = [&](const Group& g) { return known.step(surroundings, g, now.at(g.nodes[0]), other.at(g.nodes[0])); };
  if (std::ranges::any_of(pairs, [&](const Pair& p) { return !known.find(key(*p.group)); })) {
    if (options.config->error_on_cache_miss) return {};
    const auto [first, second] = runs.steps(now, other);
    for (const Pair& p : pairs) known.keep(key(*p.group), sum_of(*p.group, first), sum_of(*p.group, second));
  }
  for (Pair& p : pairs) p.ratio = known.find(key(*p.group)).value_or(1);
  return pairs;
}

// What the whole run takes with the second, by what it takes with the first: what is faster behind the others may still cost its neighbors
// more.
double ratio_of_runs(const Choice& before, const Choice& after, const KnownRatios& known, const tune::TuneOptions& options,
                     const ModelRuns& runs) {
  const tune::TimingKey key = known.run(before, after);
  if (!known.find(key)) {
    if (options.config->error_on_cache_miss) return 1;
    const auto [first, second] = runs.whole(before, after);
    known.keep(key, first, second);
  }
  return known.find(key).value_or(1);
}

}  // namespace

InModelReport try_rivals(const ir::Graph& graph, tune::Chosen& chosen, const tune::TuneOptions& options,
                         const backends::DeviceInfo& device, const ModelRuns& runs) {
  InModelReport report;
  const std::vector<Group> groups = groups_of(graph, chosen, options, device);
  const KnownRatios known(graph, options, device);
  report.tried = static_cast<int>(groups.size());
  Choice now = chosen.choice;
  for (std::size_t turn = 0; turn < kRivals; ++turn)
    for (const Pair& p : ratios_of(groups, turn, now, known, options, runs))
      if (p.ratio < kClearly)
        for (const ir::Node* node : p.group->nodes) now[node] = p.group->others[turn].choice;
  const auto changed = [&](const Group& g) { return !is_same(now.at(g.nodes[0]), chosen.choice.at(g.nodes[0])); };
  const auto count = static_cast<int>(std::ranges::count_if(groups, changed));
  if (count == 0) return report;
  report.ratio = ratio_of_runs(chosen.choice, now, known, options, runs);
  if (report.ratio >= 1) return report;
  report.changed = count;
  for (const auto& node : graph.nodes())
    if (const auto own = now.find(node.get()); own != now.end())
      chosen.nanoseconds += alone(*node, own->second, chosen) - alone(*node, chosen.choice.at(node.get()), chosen);
  chosen.choice = std::move(now);
  return report;
}

}  // namespace tenfold::builder
