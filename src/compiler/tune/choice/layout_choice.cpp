// Layout choice: nodes are candidates' sets, edges cost a reformat where the layouts of the two ends differ.
#include "tune/choice/layout_choice.h"

#include <unordered_map>

#include "tune/choice/pbqp.h"

namespace tenfold::tune {
namespace {

using backends::Layout;

// The nodes that have a choice, as a problem for the solver.
class Net {
 public:
  Net(const ir::Graph& graph, Candidates& candidates) : candidates_(candidates) {
    for (const auto& n : graph.nodes()) {
      if (is_view(*n) || is_control_flow(*n) || touches_objects(*n)) continue;
      index_[n.get()] = nodes_.size();
      nodes_.push_back({n.get(), &candidates.of(*n)});
    }
    for (std::size_t p = 0; p < nodes_.size(); ++p) {
      add_node(p);
      for (std::size_t i = 0; i < nodes_[p].node->inputs.size(); ++i) add_edge(p, i);
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
      std::int64_t cost = c.nanoseconds;
      for (std::size_t i = 0; i < n.inputs.size(); ++i)
        if (n.inputs[i] && !n.inputs[i]->is_constant() && !has_part(n.inputs[i]->producer))
          cost += mismatch(c.choice.formats.in[i], backends::kPlain, *n.inputs[i]);
      for (std::size_t o = 0; o < n.outputs.size(); ++o)
        if (read_plain(n.outputs[o])) cost += mismatch(c.choice.formats.out[o], backends::kPlain, *n.outputs[o]);
      costs.push_back(cost);
    }
    problem_.nodes.push_back(std::move(costs));
  }
  void add_edge(std::size_t to, std::size_t input) {
    const ir::Value* v = nodes_[to].node->inputs[input];
    if (!v || !has_part(v->producer)) return;
    const std::size_t from = index_.at(v->producer);
    pbqp::Edge edge{static_cast<int>(from), static_cast<int>(to), {}};
    for (const Candidate& a : *nodes_[from].candidates)
      for (const Candidate& b : *nodes_[to].candidates)
        edge.cost.push_back(mismatch(a.choice.formats.out[static_cast<std::size_t>(v->producer_index)], b.choice.formats.in[input], *v));
    problem_.edges.push_back(std::move(edge));
  }
  bool has_part(const ir::Node* n) const { return n && index_.count(n); }
  bool read_plain(const ir::Value* v) const {
    for (const ir::Node* user : v->users)
      if (!has_part(user)) return true;
    return v->users.empty();   // a graph output
  }
  std::int64_t mismatch(Layout a, Layout b, const ir::Value& v) const {
    if (a == b || (backends::same_as_plain(a, v.dims()) && backends::same_as_plain(b, v.dims()))) return 0;
    return candidates_.reformat_cost(v);
  }

  Candidates& candidates_;
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
