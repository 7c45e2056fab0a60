// Choices against brute force: exact on graphs that reduce, near it on dense ones.
#include "tune/choice/pbqp.h"

#include <gtest/gtest.h>

#include <random>

#include "tenfold/error.h"

namespace tenfold::tune::pbqp {
namespace {

std::int64_t optimum(const Problem& problem) {
  std::vector<int> choice(problem.nodes.size(), 0);
  std::int64_t best = INT64_MAX;
  for (;;) {
    best = std::min(best, evaluate(problem, choice));
    std::size_t x = 0;
    while (x < choice.size() && ++choice[x] == static_cast<int>(problem.nodes[x].size())) choice[x++] = 0;
    if (x == choice.size()) return best;
  }
}

struct Maker {
  std::mt19937 random;
  Problem problem;
  explicit Maker(unsigned seed, int nodes) : random(seed) {
    for (int i = 0; i < nodes; ++i) {
      auto& costs = problem.nodes.emplace_back(1 + random() % 4);
      for (auto& c : costs) c = random() % 100;
    }
  }
  void edge(int a, int b) {
    Edge e{a, b, {}};
    e.cost.resize(problem.nodes[static_cast<std::size_t>(a)].size() * problem.nodes[static_cast<std::size_t>(b)].size());
    for (auto& c : e.cost) c = random() % 10 == 0 ? kForbidden : static_cast<std::int64_t>(random() % 100);
    problem.edges.push_back(std::move(e));
  }
};

TEST(Pbqp, IsExactWhereTheGraphReduces) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Maker m(seed, 8);
    switch (seed % 4) {
      case 0:   // a chain
        for (int i = 1; i < 8; ++i) m.edge(i - 1, i);
        break;
      case 1:   // a tree
        for (int i = 1; i < 8; ++i) m.edge(static_cast<int>(m.random() % static_cast<unsigned>(i)), i);
        break;
      case 2:   // residual blocks: a chain with shortcuts over two
        for (int i = 1; i < 8; ++i) m.edge(i - 1, i);
        m.edge(0, 3), m.edge(3, 6), m.edge(1, 2), m.edge(5, 5);   // also a doubled edge and a loop
        break;
      default:  // a ring and lone nodes
        for (int i = 0; i < 6; ++i) m.edge(i, (i + 1) % 6);
    }
    const std::vector<int> choice = solve(m.problem);
    ASSERT_EQ(evaluate(m.problem, choice), optimum(m.problem)) << seed;
    ASSERT_EQ(solve(m.problem), choice);
  }
}

TEST(Pbqp, IsNearTheOptimumOnDenseGraphs) {
  double sum = 0;
  int problems = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Maker m(seed, 7);
    for (int a = 0; a < 7; ++a)
      for (int b = 0; b < a; ++b)
        if (m.random() % 4) m.edge(b, a);
    for (Edge& e : m.problem.edges)
      for (auto& c : e.cost) c = std::min<std::int64_t>(c, 100);
    const std::int64_t found = evaluate(m.problem, solve(m.problem)), best = optimum(m.problem);
    ASSERT_GE(found, best);
    sum += static_cast<double>(found) / static_cast<double>(best);
    ++problems;
  }
  EXPECT_LT(sum / problems, 1.05);
}

TEST(Pbqp, AvoidsWhatIsForbidden) {
  Problem p;
  p.nodes = {{0, 5}, {0, 5}};
  p.edges = {{0, 1, {kForbidden, kForbidden, kForbidden, 1}}};
  EXPECT_EQ(solve(p), (std::vector<int>{1, 1}));
  p.nodes[1][1] = kForbidden;
  EXPECT_EQ(evaluate(p, solve(p)), kForbidden);   // no way out is no crash
}

TEST(Pbqp, TiesGoToTheLowestState) {
  Problem p;
  p.nodes = {{3, 3, 3}, {1, 1}};
  p.edges = {{0, 1, {0, 0, 0, 0, 0, 0}}};
  EXPECT_EQ(solve(p), (std::vector<int>{0, 0}));
}

TEST(Pbqp, LargeChainsAreFast) {
  Maker m(1, 3000);
  for (int i = 1; i < 3000; ++i) m.edge(i - 1, i);
  for (int i = 4; i < 3000; i += 4) m.edge(i - 4, i);
  for (Edge& e : m.problem.edges)
    for (auto& c : e.cost) c = std::min<std::int64_t>(c, 100);   // nodes with one state must not meet a forbidden edge
  EXPECT_LT(evaluate(m.problem, solve(m.problem)), kForbidden);
}

TEST(Pbqp, RefusesMalformedProblems) {
  EXPECT_TRUE(solve({}).empty());
  EXPECT_THROW(solve({{{}}, {}}), Error);
  EXPECT_THROW(solve({{{1}}, {{0, 1, {1}}}}), Error);
  EXPECT_THROW(evaluate({{{1}}, {}}, {1}), Error);
}

}  // namespace
}  // namespace tenfold::tune::pbqp
