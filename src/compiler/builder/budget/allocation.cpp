#include "builder/budget/allocation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tune/choice/pbqp.h"

namespace tenfold::builder {
namespace {

constexpr double kPicoseconds = 1e9;   // in a millisecond: the solver counts in integers

std::int64_t cost(double milliseconds) {
  const double max = static_cast<double>(tune::pbqp::kForbidden / 1024);   // so that sums are not taken for forbidden
  return std::llround(std::clamp(milliseconds * kPicoseconds, -max, max));
}

// A layer without error in any state gets the least lambda's choice by any.
double squares(const AllocationProblem& problem, const Allocation& states) {
  double sum = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const double error = problem.layers[i][static_cast<std::size_t>(states[i])].error;
    sum += error * error;
  }
  return sum;
}

}  // namespace

Allocation allocate(const AllocationProblem& problem, double lambda) {
  tune::pbqp::Problem p;
  for (const auto& layer : problem.layers) {
    std::vector<std::int64_t>& costs = p.nodes.emplace_back();
    for (const AllocationProblem::State& s : layer) costs.push_back(cost(s.milliseconds + lambda * s.error * s.error));
  }
  for (const AllocationProblem::Edge& e : problem.edges) {
    tune::pbqp::Edge& edge = p.edges.emplace_back(tune::pbqp::Edge{static_cast<int>(e.from), static_cast<int>(e.to), {}});
    for (const double ms : e.milliseconds) edge.cost.push_back(cost(ms));
  }
  return tune::pbqp::solve(p);
}

double milliseconds_of(const AllocationProblem& problem, const Allocation& states) {
  double sum = 0;
  for (std::size_t i = 0; i < states.size(); ++i) sum += problem.layers[i][static_cast<std::size_t>(states[i])].milliseconds;
  for (const AllocationProblem::Edge& e : problem.edges)
    sum += e.milliseconds[static_cast<std::size_t>(states[e.from]) * problem.layers[e.to].size() + static_cast<std::size_t>(states[e.to])];
  return sum;
}

double error_of(const AllocationProblem& problem, const Allocation& states) { return std::sqrt(squares(problem, states)); }

std::vector<Allocation> frontier(const AllocationProblem& problem) {
  constexpr int kMin = -40, kMax = 40;   // powers of the root of two around the rate of the whole
  double slowest = 0, worst = 0;
  for (const auto& layer : problem.layers)
    for (const AllocationProblem::State& s : layer) slowest += std::max(s.milliseconds, 0.0), worst += s.error * s.error;
  std::vector<Allocation> all{allocate(problem, 0)};
  if (worst == 0) return all;
  for (int power = kMin; power <= kMax; ++power) {
    Allocation one = allocate(problem, slowest / worst * std::pow(2.0, power / 2.0));
    const double error = error_of(problem, one);
    if (error >= error_of(problem, all.back())) continue;
    // The solver is no oracle: one that is no slower takes the place of those before it.
    while (!all.empty() && milliseconds_of(problem, one) <= milliseconds_of(problem, all.back())) all.pop_back();
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace tenfold::builder
