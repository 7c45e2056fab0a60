// Layout choice: nodes are candidates' sets, edges cost a reformat where the layouts of the two ends differ.
#include "tune/layout_choice.h"

#include <limits>
#include <unordered_map>

namespace tenfold::tune {
namespace {

using backends::Layout;

// A node that has a choice, with the edges that lead to it.
struct Part {
  const ir::Node* node;
  const std::vector<Candidate>* candidates;
  std::size_t state = 0;
};
struct Edge {
  std::size_t from, to;   // parts
  int output, input;      // which result of `from`, which operand of `to`
  const ir::Value* value;
};

class Net {
 public:
  Net(const ir::Graph& graph, Candidates& candidates) : candidates_(candidates) {
    for (const auto& n : graph.nodes()) {
      if (is_view(*n) || is_control_flow(*n)) continue;
      index_[n.get()] = parts_.size();
      parts_.push_back({n.get(), &candidates.of(*n)});
    }
    for (std::size_t to = 0; to < parts_.size(); ++to)
      for (std::size_t i = 0; i < parts_[to].node->inputs.size(); ++i) connect(to, static_cast<int>(i));
    edges_of_.resize(parts_.size());
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      edges_of_[edges_[e].from].push_back(e);
      edges_of_[edges_[e].to].push_back(e);
    }
  }

  // The cost of part p in state s, given the others' states.
  std::int64_t local(std::size_t p, std::size_t s) {
    const Part& part = parts_[p];
    const Candidate& c = (*part.candidates)[s];
    std::int64_t cost = c.nanoseconds;
    for (std::size_t e : edges_of_[p]) {
      const Edge& edge = edges_[e];
      const std::size_t a = edge.from == p ? s : parts_[edge.from].state, b = edge.to == p ? s : parts_[edge.to].state;
      cost += edge_cost(edge, a, b);
    }
    for (std::size_t i = 0; i < part.node->inputs.size(); ++i)   // operands that are plain for sure
      if (plain_source(part.node->inputs[i])) cost += mismatch(c.choice.formats.in[i], backends::kPlain, *part.node->inputs[i]);
    for (std::size_t o = 0; o < part.node->outputs.size(); ++o)
      if (plain_reader(part.node->outputs[o])) cost += mismatch(c.choice.formats.out[o], backends::kPlain, *part.node->outputs[o]);
    return cost;
  }

  std::int64_t total() {
    std::int64_t sum = 0;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const std::int64_t with_edges = local(p, parts_[p].state);
      sum += with_edges;
    }
    for (const Edge& e : edges_) sum -= edge_cost(e, parts_[e.from].state, parts_[e.to].state);   // counted at both ends
    return sum;
  }

  // Sweeps to a local optimum from a start in which every part prefers `layout` for its first result.
  std::int64_t descend(Layout layout) {
    for (Part& part : parts_) {
      part.state = 0;
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      for (std::size_t s = 0; s < part.candidates->size(); ++s) {
        const Candidate& c = (*part.candidates)[s];
        const std::int64_t penalty = c.choice.formats.out[0] == layout ? 0 : std::numeric_limits<std::int64_t>::max() / 4;
        if (c.nanoseconds + penalty < least) least = c.nanoseconds + penalty, part.state = s;
      }
    }
    for (int sweep = 0; sweep < 32; ++sweep) {
      bool changed = false;
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        std::size_t best = parts_[p].state;
        std::int64_t least = local(p, best);
        for (std::size_t s = 0; s < parts_[p].candidates->size(); ++s)
          if (const std::int64_t cost = local(p, s); cost < least) least = cost, best = s;
        changed = changed || best != parts_[p].state;
        parts_[p].state = best;
      }
      if (!changed) break;
    }
    return total();
  }

  std::vector<Part>& parts() { return parts_; }

 private:
  void connect(std::size_t to, int input) {
    const ir::Value* v = parts_[to].node->inputs[static_cast<std::size_t>(input)];
    if (!v || !v->producer) return;
    auto it = index_.find(v->producer);
    if (it != index_.end()) edges_.push_back({it->second, to, v->producer_index, input, v});
  }
  bool plain_source(const ir::Value* v) const { return v && !v->is_constant() && (!v->producer || !index_.count(v->producer)); }
  bool plain_reader(const ir::Value* v) const {
    for (const ir::Node* user : v->users)
      if (!index_.count(user)) return true;
    return v->users.empty();   // a graph output
  }
  std::int64_t mismatch(Layout a, Layout b, const ir::Value& v) {
    if (a == b || (backends::same_as_plain(a, v.dims()) && backends::same_as_plain(b, v.dims()))) return 0;
    return candidates_.reformat_cost(v);
  }
  std::int64_t edge_cost(const Edge& e, std::size_t from_state, std::size_t to_state) {
    const auto& from = (*parts_[e.from].candidates)[from_state].choice.formats.out[static_cast<std::size_t>(e.output)];
    const auto& to = (*parts_[e.to].candidates)[to_state].choice.formats.in[static_cast<std::size_t>(e.input)];
    return mismatch(from, to, *e.value);
  }

  Candidates& candidates_;
  std::vector<Part> parts_;
  std::vector<Edge> edges_;
  std::vector<std::vector<std::size_t>> edges_of_;
  std::unordered_map<const ir::Node*, std::size_t> index_;
};

}  // namespace

void choose_layouts(const ir::Graph& graph, Candidates& candidates, const TuneOptions& options, Choice& choice) {
  Net net(graph, candidates);
  const std::int64_t plain = net.descend(backends::kPlain), last = net.descend(backends::kChannelsLast);
  if (plain < last) net.descend(backends::kPlain);
  for (const Part& part : net.parts()) {
    choice[part.node] = (*part.candidates)[part.state].choice;
    if (!options.report) continue;
    for (StepReport& step : options.report->steps)
      for (TacticReport& t : step.tried)
        if (step.node == part.node->name && choice[part.node].tactic && t.tactic == choice[part.node].tactic->name &&
            t.config == config_text(choice[part.node].config) && t.verdict.empty())
          t.chosen = true;
  }
}

}  // namespace tenfold::tune
