// Which type each layer has, so that time and error are in balance: time + lambda * squared error is least, as a problem of tune/'s
// solver. Every lambda is an exchange rate that holds for all layers, without which an allocation could be bettered (Shoham and Gersho
// 1988). Errors are taken to add up in their squares, which they do not quite: the result is a proposal.
#pragma once

#include <vector>

namespace tenfold::builder {

struct AllocationProblem {
  struct State { double milliseconds = 0, error = 0; };
  struct Edge { std::size_t from = 0, to = 0; std::vector<double> milliseconds; };   // row by row: [state of from][state of to]
  std::vector<std::vector<State>> layers;   // at least one state each
  std::vector<Edge> edges;
};
using Allocation = std::vector<int>;        // the state of each layer

Allocation allocate(const AllocationProblem& problem, double lambda);
double milliseconds_of(const AllocationProblem& problem, const Allocation& states);
double error_of(const AllocationProblem& problem, const Allocation& states);   // the root of summed squares
// Those that some lambda leads to, from the fastest to the one of least error. Each is slower and has less error than the one before.
std::vector<Allocation> frontier(const AllocationProblem& problem);

}  // namespace tenfold::builder
