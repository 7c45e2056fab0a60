// The solver against brute force on small problems, against the lower bound on shapes of real networks, and the validator itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "memory/problem.h"
#include "tenfold/error.h"

namespace tenfold::memory {
namespace {

Problem random_problem(std::mt19937& random, int buffers, int steps, int largest) {
  Problem problem;
  for (int i = 0; i < buffers; ++i) {
    const int a = static_cast<int>(random() % static_cast<unsigned>(steps)), b = static_cast<int>(random() % static_cast<unsigned>(steps));
    problem.buffers.push_back(
        {std::min(a, b), std::max(a, b), static_cast<std::int64_t>(random() % static_cast<unsigned>(largest)), 1 << random() % 4});
  }
  return problem;
}

// The least height over every order of placing each buffer on top of those it meets, written apart from the solver.
std::int64_t optimum(const Problem& problem) {
  std::vector<std::size_t> order(problem.buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::int64_t best = INT64_MAX;
  do {
    std::vector<std::int64_t> tops;
    std::int64_t height = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const Buffer& buffer = problem.buffers[order[k]];
      std::int64_t offset = 0;
      for (std::size_t j = 0; j < k; ++j)
        if (buffer.size > 0 && problem.buffers[order[j]].size > 0 && buffer.overlaps(problem.buffers[order[j]]))
          offset = std::max(offset, tops[j]);
      offset = (offset + buffer.alignment - 1) / buffer.alignment * buffer.alignment;
      tops.push_back(buffer.size > 0 ? offset + buffer.size : 0);
      height = std::max(height, tops.back());
    }
    best = std::min(best, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Solver, FindsTheOptimumOfSmallProblems) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const Problem problem = random_problem(random, 1 + i % 7, 6, 40);
    const Solution solution = solve(problem);
    validate(problem, solution);
    ASSERT_EQ(solution.height, optimum(problem)) << "problem " << i;
  }
}

TEST(Solver, IsValidAndNearTheBoundOnLargeProblems) {
  std::mt19937 random(2);
  for (int i = 0; i < 12; ++i) {
    const Problem problem = random_problem(random, 50 + 40 * i, 100, 100000);
    const Solution solution = solve(problem);
    validate(problem, solution);
    EXPECT_LE(static_cast<double>(solution.height), 1.10 * static_cast<double>(lower_bound(problem))) << i;
    EXPECT_EQ(solve(problem).offsets, solution.offsets);
  }
}

// Activations of a residual network: each stage halves the area and doubles the channels; the shortcut lives through a block.
TEST(Solver, ReachesFivePercentOnAResidualNetwork) {
  Problem problem;
  int step = 0;
  std::int64_t size = 56 * 56 * 256 * 4;
  const auto add = [&](int first, int last, std::int64_t bytes) { problem.buffers.push_back({first, last, bytes, 64}); };
  add(0, 1, 112 * 112 * 64 * 4);
  for (int blocks : {3, 4, 6, 3}) {
    for (int block = 0; block < blocks; ++block, step += 4) {
      add(step + 1, step + 2, size / 4);
      add(step + 2, step + 3, size / 4);
      add(step + 3, step + 7, size);
      add(step + 2, step + 2, 36 * 1000 + 64 * block);   // workspace
    }
    size /= 2;
  }
  const Solution solution = solve(problem);
  validate(problem, solution);
  EXPECT_LE(static_cast<double>(solution.height), 1.05 * static_cast<double>(lower_bound(problem)));
}

// Thousands that live together: no pair of them is listed.
TEST(Solver, PlacesCrowds) {
  Problem together;
  for (int i = 0; i < 30000; ++i) together.buffers.push_back({i, 30000 + i % 7, 64 + i % 3 * 64, 64});
  const Solution solution = solve(together);
  validate(together, solution);
  EXPECT_EQ(solution.height, lower_bound(together));
  std::mt19937 random(5);
  const Problem crowd = random_problem(random, 12000, 4000, 100000);
  const Solution placed = solve(crowd);
  validate(crowd, placed);
  EXPECT_LE(static_cast<double>(placed.height), 1.25 * static_cast<double>(lower_bound(crowd)));
}

TEST(Solver, NothingToPlace) {
  EXPECT_EQ(solve({}).height, 0);
  const Problem empty{{{0, 3, 0, 64}, {1, 2, 0, 64}}};
  const Solution solution = solve(empty);
  validate(empty, solution);
  EXPECT_EQ(solution.height, 0);
  EXPECT_THROW(solve({{{0, 1, INT64_MAX, 64}, {0, 1, INT64_MAX, 64}}}), Error);
}

TEST(Validator, SeesEveryKindOfFault) {
  const Problem problem{{{0, 2, 100, 64}, {2, 3, 100, 64}, {3, 4, 100, 64}}};
  EXPECT_NO_THROW(validate(problem, {{0, 128, 0}, 228}));
  EXPECT_THROW(validate(problem, {{0, 64, 0}, 228}), Error);      // 0 and 1 overlap
  EXPECT_THROW(validate(problem, {{0, 128, 128}, 228}), Error);   // 1 and 2 overlap
  EXPECT_THROW(validate(problem, {{0, 100, 0}, 228}), Error);     // alignment
  EXPECT_THROW(validate(problem, {{0, 128, 0}, 227}), Error);     // too high
  EXPECT_THROW(validate(problem, {{0, -64, 0}, 228}), Error);
  EXPECT_THROW(validate(problem, {{0, 128}, 228}), Error);
  EXPECT_EQ(lower_bound(problem), 200);
}

}  // namespace
}  // namespace tenfold::memory
