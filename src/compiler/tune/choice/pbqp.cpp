// The solver: nodes are taken out one by one, their costs folded into their neighbors; then their states are chosen in reverse.
#include "tune/choice/pbqp.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"

namespace tenfold::tune::pbqp {
namespace {

std::int64_t plus(std::int64_t a, std::int64_t b) { return std::min(a + b, kForbidden); }

void verify(const Problem& problem) {
  for (const auto& costs : problem.nodes) check(!costs.empty(), "a node without states");
  const int count = static_cast<int>(problem.nodes.size());
  for (const Edge& e : problem.edges)
    check(e.a >= 0 && e.a < count && e.b >= 0 && e.b < count &&
              e.cost.size() == problem.nodes[static_cast<std::size_t>(e.a)].size() * problem.nodes[static_cast<std::size_t>(e.b)].size(),
          "an edge does not fit its nodes");
}

// Costs between a node (rows) and one neighbor (columns).
struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<std::int64_t> cost;
  std::int64_t& at(std::size_t r, std::size_t c) { return cost[r * columns + c]; }
  Matrix transposed() {
    Matrix t{columns, rows, std::vector<std::int64_t>(cost.size())};
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c) t.at(c, r) = at(r, c);
    return t;
  }
};

class Solver {
 public:
  explicit Solver(const Problem& problem) : costs_(problem.nodes), neighbors_(problem.nodes.size()), choice_(problem.nodes.size(), 0) {
    for (const Edge& e : problem.edges) {
      const auto a = static_cast<std::size_t>(e.a), b = static_cast<std::size_t>(e.b);
      if (a == b) {
        for (std::size_t s = 0; s < costs_[a].size(); ++s) costs_[a][s] = plus(costs_[a][s], e.cost[s * costs_[a].size() + s]);
      } else {
        add_edge(a, b, {costs_[a].size(), costs_[b].size(), e.cost});
      }
    }
  }

  std::vector<int> solve() {
    for (std::size_t x = 0; x < costs_.size(); ++x) open_.emplace(neighbors_[x].size(), x);
    while (!open_.empty()) {
      const std::size_t x = next();
      open_.erase({neighbors_[x].size(), x});
      for (const auto& [y, matrix] : neighbors_[x]) open_.erase({neighbors_[y].size(), y});
      if (neighbors_[x].size() == 1) fold_one(x);
      else if (neighbors_[x].size() == 2) fold_two(x);
      else if (neighbors_[x].size() > 2) decide(x);
      removed_.push_back({x, neighbors_[x], costs_[x]});
      for (const auto& [y, matrix] : neighbors_[x]) {
        neighbors_[y].erase(x);
        open_.emplace(neighbors_[y].size(), y);
      }
      neighbors_[x].clear();
    }
    for (auto it = removed_.rbegin(); it != removed_.rend(); ++it) choice_[it->node] = static_cast<int>(best_state(*it));
    return choice_;
  }

 private:
  // A node as it was when it was taken out: its neighbors come out later, so their states are known when it is chosen.
  struct Removed {
    std::size_t node;
    std::map<std::size_t, Matrix> neighbors;
    std::vector<std::int64_t> costs;
  };

  void add_edge(std::size_t a, std::size_t b, Matrix matrix) {
    const auto merge = [](Matrix& into, const Matrix& from) {
      if (into.cost.empty()) into = from;
      else
        for (std::size_t i = 0; i < into.cost.size(); ++i) into.cost[i] = plus(into.cost[i], from.cost[i]);
    };
    merge(neighbors_[b][a], matrix.transposed());
    merge(neighbors_[a][b], matrix);
  }

  // Fewest neighbors first, as long as that is exact; else the one with most, so that deciding it takes the graph apart.
  std::size_t next() const {
    const auto [fewest, min] = *open_.begin();
    return fewest <= 2 ? min : open_.lower_bound({open_.rbegin()->first, 0})->second;
  }

  void fold_one(std::size_t x) {
    auto& [y, matrix] = *neighbors_[x].begin();
    for (std::size_t t = 0; t < costs_[y].size(); ++t) {
      std::int64_t min = kForbidden;
      for (std::size_t s = 0; s < costs_[x].size(); ++s) min = std::min(min, plus(costs_[x][s], matrix.at(s, t)));
      costs_[y][t] = plus(costs_[y][t], min);
    }
  }

  void fold_two(std::size_t x) {
    auto first = neighbors_[x].begin();
    auto second = std::next(first);
    Matrix between{costs_[first->first].size(), costs_[second->first].size(), {}};
    between.cost.assign(between.rows * between.columns, kForbidden);
    for (std::size_t t = 0; t < between.rows; ++t)
      for (std::size_t u = 0; u < between.columns; ++u)
        for (std::size_t s = 0; s < costs_[x].size(); ++s)
          between.at(t, u) = std::min(between.at(t, u), plus(costs_[x][s], plus(first->second.at(s, t), second->second.at(s, u))));
    add_edge(first->first, second->first, std::move(between));
  }

  // Heuristic: the state that is cheapest if every neighbor answers it best on its own. It becomes a cost of the neighbors.
  void decide(std::size_t x) {
    std::size_t chosen = 0;
    std::int64_t min = INT64_MAX;
    for (std::size_t s = 0; s < costs_[x].size(); ++s) {
      std::int64_t cost = costs_[x][s];
      for (auto& [y, matrix] : neighbors_[x]) {
        std::int64_t answer = kForbidden;
        for (std::size_t t = 0; t < costs_[y].size(); ++t) answer = std::min(answer, plus(costs_[y][t], matrix.at(s, t)));
        cost = plus(cost, answer);
      }
      if (cost < min) min = cost, chosen = s;
    }
    for (auto& [y, matrix] : neighbors_[x])
      for (std::size_t t = 0; t < costs_[y].size(); ++t) costs_[y][t] = plus(costs_[y][t], matrix.at(chosen, t));
    for (std::size_t s = 0; s < costs_[x].size(); ++s)
      if (s != chosen) costs_[x][s] = kForbidden + 1;   // never chosen later, even beside forbidden neighbors
  }

  std::size_t best_state(Removed& r) const {
    std::size_t chosen = 0;
    std::int64_t min = INT64_MAX;
    for (std::size_t s = 0; s < r.costs.size(); ++s) {
      std::int64_t cost = r.costs[s];
      for (auto& [y, matrix] : r.neighbors) {
        const std::int64_t edge = matrix.at(s, static_cast<std::size_t>(choice_[y]));
        cost = r.costs[s] > kForbidden ? r.costs[s] : plus(cost, edge);
      }
      if (cost < min) min = cost, chosen = s;
    }
    return chosen;
  }

  std::vector<std::vector<std::int64_t>> costs_;
  std::vector<std::map<std::size_t, Matrix>> neighbors_;   // each edge from both ends; ordered, so that ties fall the same way
  std::set<std::pair<std::size_t, std::size_t>> open_;      // nodes that are not taken out: number of neighbors, node
  std::vector<Removed> removed_;
  std::vector<int> choice_;
};

// Single changes while they help; what the heuristic got wrong is often one node.
void improve(const Problem& problem, std::vector<int>& choice) {
  std::vector<std::vector<const Edge*>> edges_of(problem.nodes.size());
  for (const Edge& e : problem.edges) {
    edges_of[static_cast<std::size_t>(e.a)].push_back(&e);
    if (e.a != e.b) edges_of[static_cast<std::size_t>(e.b)].push_back(&e);
  }
  const auto local = [&](std::size_t x) {
    std::int64_t cost = problem.nodes[x][static_cast<std::size_t>(choice[x])];
    for (const Edge* e : edges_of[x]) {
      const auto a = static_cast<std::size_t>(e->a), b = static_cast<std::size_t>(e->b);
      cost = plus(cost, e->cost[static_cast<std::size_t>(choice[a]) * problem.nodes[b].size() + static_cast<std::size_t>(choice[b])]);
    }
    return cost;
  };
  bool changed = true;
  for (int sweep = 0; changed && sweep < 100; ++sweep) {
    changed = false;
    for (std::size_t x = 0; x < choice.size(); ++x) {
      int best = choice[x];
      std::int64_t min = local(x);
      for (int s = 0; s < static_cast<int>(problem.nodes[x].size()); ++s) {
        choice[x] = s;
        if (const std::int64_t cost = local(x); cost < min) min = cost, best = s, changed = true;
      }
      choice[x] = best;
    }
  }
}

}  // namespace

std::vector<int> solve(const Problem& problem) {
  verify(problem);
  std::vector<int> choice = Solver(problem).solve();
  improve(problem, choice);
  return choice;
}

std::int64_t evaluate(const Problem& problem, const std::vector<int>& choice) {
  verify(problem);
  check(choice.size() == problem.nodes.size(), choice.size(), " states chosen for ", problem.nodes.size(), " nodes");
  std::int64_t total = 0;
  for (std::size_t x = 0; x < choice.size(); ++x) {
    check(choice[x] >= 0 && static_cast<std::size_t>(choice[x]) < problem.nodes[x].size(), "node ", x, " has no state ", choice[x]);
    total = plus(total, problem.nodes[x][static_cast<std::size_t>(choice[x])]);
  }
  for (const Edge& e : problem.edges) {
    const auto a = static_cast<std::size_t>(e.a), b = static_cast<std::size_t>(e.b);
    total = plus(total, e.cost[static_cast<std::size_t>(choice[a]) * problem.nodes[b].size() + static_cast<std::size_t>(choice[b])]);
  }
  return total;
}

}  // namespace tenfold::tune::pbqp
