// Choosing one state for every node so that node costs plus edge costs are least, as a problem without graphs of operators:
// partitioned boolean quadratic programming.
#pragma once

#include <cstdint>
#include <vector>

namespace tenfold::tune::pbqp {

inline constexpr std::int64_t kForbidden = std::int64_t{1} << 60;   // sums stop there, so several together are still forbidden

struct Edge {
  int a = 0, b = 0;
  std::vector<std::int64_t> cost;   // row by row: [state of a][state of b]
};
struct Problem {
  std::vector<std::vector<std::int64_t>> nodes;   // cost of each state; at least one state
  std::vector<Edge> edges;                        // several between the same nodes add up; an edge may lead back to its node
};

// The state of every node. Exact where reductions of nodes with at most two neighbors take the graph apart, which they do for
// chains, trees and residual blocks; elsewhere a fixed heuristic decides the node with most neighbors, and single changes improve
// the result. Ties go to the lowest number. Time: nodes times states cubed.
std::vector<int> solve(const Problem& problem);

// Throws Error(internal) if the sizes of the problem or of the choice do not fit.
std::int64_t evaluate(const Problem& problem, const std::vector<int>& choice);

}  // namespace tenfold::tune::pbqp
