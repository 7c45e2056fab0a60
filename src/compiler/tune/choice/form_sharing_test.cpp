// Shared forms against brute force.
#include "tune/choice/form_sharing.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace tenfold::tune::sharing {
namespace {

using Options = std::vector<std::vector<int>>;

double cost_of(const std::vector<Group>& groups, const Options& options) {
  double cost = 0;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t r = 0; r < options[g].size(); ++r)
      cost += groups[g].readers[r][static_cast<std::size_t>(options[g][r])].cost;
  return cost;
}
std::int64_t bytes_of(const std::vector<Group>& groups, const Options& options) {
  std::int64_t bytes = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) bytes += bytes_of(groups[g], options[g]);
  return bytes;
}

// The least cost within a limit; infinite where nothing is within it.
double least_cost(const std::vector<Group>& groups, std::int64_t limit) {
  Options at;
  for (const Group& group : groups) at.emplace_back(group.readers.size(), 0);
  double least = std::numeric_limits<double>::infinity();
  for (;;) {
    if (bytes_of(groups, at) <= limit) least = std::min(least, cost_of(groups, at));
    std::size_t g = 0, r = 0;
    while (g < groups.size() && ++at[g][r] == static_cast<int>(groups[g].readers[r].size())) {
      at[g][r++] = 0;
      if (r == at[g].size()) ++g, r = 0;
    }
    if (g == groups.size()) return least;
  }
}

std::vector<Group> random_groups(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Group> groups(1 + random() % 2);
  for (Group& group : groups) {
    for (unsigned f = 0; f < 2 + random() % 3; ++f) group.bytes.push_back(1 + random() % 8);
    const auto forms = static_cast<unsigned>(group.bytes.size());
    for (unsigned r = 0; r < 1 + random() % 3; ++r) {
      auto& options = group.readers.emplace_back();
      for (unsigned o = 0; o < 1 + random() % 3; ++o) {
        options.push_back({static_cast<double>(random() % 100), {static_cast<int>(random() % forms)}});
        if (random() % 4 == 0) options.back().forms.push_back(static_cast<int>(random() % forms));
      }
    }
  }
  return groups;
}

TEST(FormSharing, WithoutALimitEachReaderHasItsCheapest) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const std::vector<Group> groups = random_groups(seed);
    const std::int64_t no_limit = 1 << 20;
    EXPECT_EQ(cost_of(groups, solve(groups, no_limit)), least_cost(groups, no_limit)) << seed;
  }
}

// What fits somehow is made to fit. It costs no more than the best for a limit that is less by one step; and what it takes cannot be had
// for less.
TEST(FormSharing, StaysWithinALimitAtNearlyTheLeastCost) {
  int limited = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const std::vector<Group> groups = random_groups(seed);
    std::int64_t step = 0;
    for (const Group& group : groups) {
      std::int64_t all = 0;
      for (const std::int64_t bytes : group.bytes) all += bytes;
      step = std::max(step, all);
    }
    for (const std::int64_t limit : {2, 5, 8, 12}) {
      const double least = least_cost(groups, limit);
      const Options options = solve(groups, limit);
      if (least == std::numeric_limits<double>::infinity()) continue;
      EXPECT_LE(bytes_of(groups, options), limit) << seed;
      EXPECT_GE(cost_of(groups, options), least) << seed;
      EXPECT_LE(cost_of(groups, options), least_cost(groups, limit - step)) << seed;
      limited += bytes_of(groups, solve(groups, 1 << 20)) > limit;
    }
  }
  EXPECT_GT(limited, 50);
}

TEST(FormSharing, GivesUpWhatCostsLeast) {
  const std::vector<Group> groups{{{10, 10}, {{{1, {0}}, {9, {1}}}, {{1, {1}}, {5, {0}}}}},    // 4 more for 10 bytes
                                  {{10, 10}, {{{1, {0}}, {2, {1}}}, {{1, {1}}, {5, {0}}}}}};   // 1 more for 10
  EXPECT_EQ(solve(groups, 40), (Options{{0, 0}, {0, 0}}));
  EXPECT_EQ(solve(groups, 30), (Options{{0, 0}, {1, 0}}));
  EXPECT_EQ(solve(groups, 20), (Options{{0, 1}, {1, 0}}));
  EXPECT_EQ(solve(groups, 0), (Options{{0, 1}, {1, 0}})) << "no more can be saved";
}

// More forms than are tried in all sets.
TEST(FormSharing, OfManyFormsOneIsEnough) {
  Group group;
  for (int r = 0; r < 40; ++r) {
    group.bytes.push_back(10);
    group.readers.push_back({{1, {r}}, {2, {7}}});
  }
  EXPECT_EQ(bytes_of(group, solve({group}, 10)[0]), 10);
  EXPECT_EQ(bytes_of(group, solve({group}, 1000)[0]), 400);
}

}  // namespace
}  // namespace tenfold::tune::sharing
