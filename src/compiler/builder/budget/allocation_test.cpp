// Allocations beside all that there are.
#include "builder/budget/allocation.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace tenfold::builder {
namespace {

// A chain with a skip, of three types: the narrower the faster, mostly, and the less exact.
AllocationProblem random_problem(std::uint64_t seed, std::size_t layers) {
  std::mt19937_64 random(seed);
  const auto uniform = [&](double low, double high) { return low + (high - low) * static_cast<double>(random() % 10007) / 10007; };
  AllocationProblem p;
  for (std::size_t i = 0; i < layers; ++i) {
    const double ms = uniform(0.1, 2), error = uniform(0.001, 0.1);
    p.layers.push_back({{ms * uniform(0.3, 1.2), error}, {ms * uniform(0.4, 1), error / 8}, {ms, 0}});
  }
  const auto casts = [&] {
    std::vector<double> cost(9, 0);
    for (std::size_t s = 0; s < 9; ++s) cost[s] = s % 4 == 0 ? 0 : uniform(0, 0.2);
    return cost;
  };
  for (std::size_t i = 0; i + 1 < layers; ++i) p.edges.push_back({i, i + 1, casts()});
  p.edges.push_back({0, layers - 1, casts()});
  return p;
}

void each(std::size_t layers, const std::function<void(const Allocation&)>& visit) {
  Allocation states(layers, 0);
  for (;;) {
    visit(states);
    std::size_t i = 0;
    for (; i < layers && states[i] == 2; ++i) states[i] = 0;
    if (i == layers) return;
    ++states[i];
  }
}

TEST(Allocation, ForALambdaIsTheBestOfAll) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const AllocationProblem p = random_problem(seed, 7);
    for (const double lambda : {0.0, 10.0, 1000.0}) {
      const auto value = [&](const Allocation& a) { return milliseconds_of(p, a) + lambda * error_of(p, a) * error_of(p, a); };
      double min = std::numeric_limits<double>::infinity();
      each(7, [&](const Allocation& a) { min = std::min(min, value(a)); });
      EXPECT_NEAR(value(allocate(p, lambda)), min, 1e-6) << seed << " " << lambda;
    }
  }
}

TEST(Allocation, TheFrontierIsNearTheBestForEachBound) {
  double worst = 1;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const AllocationProblem p = random_problem(seed, 8);
    const std::vector<Allocation> line = frontier(p);
    for (std::size_t i = 1; i < line.size(); ++i) {
      EXPECT_LT(error_of(p, line[i]), error_of(p, line[i - 1]));
      EXPECT_GT(milliseconds_of(p, line[i]), milliseconds_of(p, line[i - 1]));
    }
    EXPECT_EQ(error_of(p, line.back()), 0);   // the widest of all is reached
    const double bound = error_of(p, line.front()) / 2;
    double min = std::numeric_limits<double>::infinity(), ours = min;
    each(8, [&](const Allocation& a) { if (error_of(p, a) <= bound) min = std::min(min, milliseconds_of(p, a)); });
    for (const Allocation& a : line) if (error_of(p, a) <= bound) ours = std::min(ours, milliseconds_of(p, a));
    worst = std::max(worst, ours / min);
  }
  EXPECT_LT(worst, 1.15);   // single exchanges come afterwards
}

TEST(Allocation, WithoutErrorsIsTheQuickest) {
  AllocationProblem p = random_problem(3, 6);
  for (auto& layer : p.layers) for (auto& s : layer) s.error = 0;
  ASSERT_EQ(frontier(p).size(), 1u);
  EXPECT_EQ(frontier(p).front(), allocate(p, 0));
}

}  // namespace
}  // namespace tenfold::builder
