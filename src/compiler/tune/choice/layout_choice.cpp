// Layout choice: nodes are candidates' sets, edges cost a reformat where the layouts of the two ends differ. A Transpose that moves
// nothing in its layouts costs nothing, as builder/program/storage.h makes it a view, unless it is kept from that: then, its own time.
#include "tune/choice/layout_choice.h"

#include <unordered_map>
#include <unordered_set>

#include "tune/choice/pbqp.h"
#include "tune/choice/transposes.h"

namespace tenfold::tune {
namespace {

using backends::Layout;

// The nodes that have a choice, as a problem for the solver.
class Net {
 public:
  Net(const ir::Graph& graph, Candidates& candidates)
      : candidates_(candidates), outputs_(graph.outputs.begin(), graph.outputs.end()) {
    for (const auto& n : graph.nodes()) {
      if (is_view(*n) || is_control_flow(*n) || touches_objects(*n)) continue;
      index_[n.get()] = nodes_.size();
      nodes_.push_back({n.get(), &candidates.of(*n)});
    }
    for (std::size_t p = 0; p < nodes_.size(); ++p) {
      add_node(p);
      for (std::size_t i = 0; i < nodes_[p].node->inputs.size(); ++i) add_edge(p, i);
      add_other_readers(p);
    }
  }
  std::int64_t solve(Choice& choice) const {
    const std::vector<int> states = pbqp::solve(problem_);
    for (std::size_t p = 0; p < nodes_.size(); ++p)
      choice[nodes_[p].node] = (*nodes_[p].candidates)[static_cast<std::size_t>(states[p])].choice;
    return pbqp::evaluate(problem_, states);
  }

 private:
  struct ChoiceNode {
    const ir::Node* node;
    const std::vector<Candidate>* candidates;
  };

  // A candidate's time, and the reformats to and from neighbors that are plain for sure: inputs, outputs, views, control flow.
  void add_node(std::size_t p) {
    const ir::Node& n = *nodes_[p].node;
    std::vector<std::int64_t> costs;
    for (const Candidate& c : *nodes_[p].candidates) {
      std::int64_t cost = may_be_view(n, c) ? 0 : c.nanoseconds;
      for (std::size_t i = 0; i < n.inputs.size(); ++i)
        if (n.inputs[i] && !n.inputs[i]->is_constant() && !has_part(n.inputs[i]->producer)) cost += read_cost(n, c, i, backends::kPlain);
      for (std::size_t o = 0; o < n.outputs.size(); ++o)
        if (read_plain(n.outputs[o])) cost += mismatch(c.choice.formats.out[o], backends::kPlain, *n.outputs[o]);
      costs.push_back(cost);
    }
    problem_.nodes.push_back(std::move(costs));
  }
  void add_edge(std::size_t to, std::size_t input) {
    const ir::Node& reader = *nodes_[to].node;
    const ir::Value* v = reader.inputs[input];
    if (!v || !has_part(v->producer)) return;
    const std::size_t from = index_.at(v->producer);
    pbqp::Edge edge{static_cast<int>(from), static_cast<int>(to), {}};
    for (const Candidate& a : *nodes_[from].candidates)
      for (const Candidate& b : *nodes_[to].candidates)
        edge.cost.push_back(read_cost(reader, b, input, a.choice.formats.out[static_cast<std::size_t>(v->producer_index)]));
    problem_.edges.push_back(std::move(edge));
  }
  // A Transpose whose operand is written where its result lies, channels-last: all that read the operand have to take it so.
  void add_other_readers(std::size_t p) {
    const ir::Node& n = *nodes_[p].node;
    const auto writes_result = [&](const Candidate& c) { return may_be_view(n, c) && c.choice.formats.out[0] == backends::kPlain; };
    const std::vector<Candidate>& own = *nodes_[p].candidates;
    if (std::none_of(own.begin(), own.end(), writes_result)) return;
    for (const ir::Node* user : n.in(0)->users) {
      if (user == &n || !has_part(user)) continue;
      const std::size_t other = index_.at(user);
      for (std::size_t i = 0; i < user->inputs.size(); ++i) {
        if (user->inputs[i] != n.in(0)) continue;
        pbqp::Edge edge{static_cast<int>(p), static_cast<int>(other), {}};
        for (const Candidate& a : own)
          for (const Candidate& b : *nodes_[other].candidates)
            edge.cost.push_back(writes_result(a) && b.choice.formats.in[i] != a.choice.formats.in[0] ? a.nanoseconds : 0);
        problem_.edges.push_back(std::move(edge));
      }
    }
  }
  // Could Storage make a view of it? Not of a constant; and a graph's output is not made a view, nor is what becomes one a view of it.
  bool may_be_view(const ir::Node& n, const Candidate& c) const {
    if (!moves_nothing(n, c.choice.formats) || n.in(0)->is_constant()) return false;
    return c.choice.formats.out[0] == backends::kPlain ? has_part(n.in(0)->producer) && !read_plain(n.in(0)) : !outputs_.count(n.out());
  }
  // Of reading an operand that is stored as `stored`: where it has to be brought to another layout first, a Transpose is a step, too.
  std::int64_t read_cost(const ir::Node& reader, const Candidate& c, std::size_t input, Layout stored) const {
    const std::int64_t cost = mismatch(stored, c.choice.formats.in[input], *reader.inputs[input]);
    return cost && may_be_view(reader, c) ? cost + c.nanoseconds : cost;
  }
  bool has_part(const ir::Node* n) const { return n && index_.count(n); }
  bool read_plain(const ir::Value* v) const {
    for (const ir::Node* user : v->users)
      if (!has_part(user)) return true;
    return outputs_.count(v) || v->users.empty();
  }
  std::int64_t mismatch(Layout a, Layout b, const ir::Value& v) const {
    if (a == b || (backends::same_as_plain(a, v.dims()) && backends::same_as_plain(b, v.dims()))) return 0;
    return candidates_.reformat_cost(v);
  }

  Candidates& candidates_;
  std::unordered_set<const ir::Value*> outputs_;   // the graph's
  std::vector<ChoiceNode> nodes_;
  std::unordered_map<const ir::Node*, std::size_t> index_;
  pbqp::Problem problem_;
};

}  // namespace

void mark_chosen(const Choice& choice, std::span<StepReport> steps) {
  std::unordered_map<std::string_view, std::vector<StepReport*>> by_node;
  for (StepReport& step : steps) by_node[step.node].push_back(&step);
  for (const auto& [node, chosen] : choice) {
    const auto steps = by_node.find(node->name);
    if (!chosen.tactic || steps == by_node.end()) continue;
    const std::string config = config_text(chosen.config, chosen.formats);
    for (StepReport* step : steps->second)
      for (TacticReport& t : step->tried)
        if (t.tactic == chosen.tactic->name && t.config == config && t.verdict.empty()) t.chosen = true;
  }
}

std::int64_t choose_layouts(const ir::Graph& graph, Candidates& candidates, const TuneOptions& options, Choice& choice) {
  const std::int64_t nanoseconds = Net(graph, candidates).solve(choice);
  if (options.report) mark_chosen(choice, options.report->steps);
  return nanoseconds;
}

}  // namespace tenfold::tune
