// Which rivals are taken, by times that the test makes up.
#include "builder/in_model/rivals.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/cases.h"

namespace tenfold::builder {
namespace {

// Two products of one problem and one of another, each with the tactics "own", "near" and "third" in the tuner's order.
class Rivals : public ::testing::Test {
 protected:
  Rivals() {
    options.config = &config, options.cache = &cache;
    const char* names[] = {"own", "near", "third"};
    for (std::size_t i = 0; i < 3; ++i) tactics[i].name = names[i];
    for (const auto& node : graph.nodes()) {
      const backends::Formats plain{std::vector<backends::Layout>(2), std::vector<backends::Layout>(1)};
      for (std::size_t i = 0; i < 3; ++i)
        chosen.timed[node.get()].push_back({{&tactics[i], {0}, plain}, 1000 + 20 * static_cast<std::int64_t>(i)});
      chosen.choice[node.get()] = chosen.timed[node.get()][0].choice;
      chosen.nanoseconds += 1000;
    }
  }
  // Runs take what `times` says of each node's tactic, and the whole run what `whole` says.
  InModelReport run(const std::function<double(const std::string& node, const std::string& tactic)>& times, double first, double second) {
    const auto steps = [&](const tune::Choice& a, const tune::Choice& b) {
      ++comparisons;
      std::pair<ModelRuns::StepTimes, ModelRuns::StepTimes> result;
      for (const auto& node : graph.nodes()) {
        result.first[node->name] = times(node->name, a.at(node.get()).tactic->name);
        result.second[node->name] = times(node->name, b.at(node.get()).tactic->name);
      }
      return result;
    };
    const auto runs = [&](const tune::Choice&, const tune::Choice&) { return ++comparisons, std::pair(first, second); };
    return try_rivals(graph, chosen, options, device, {steps, runs});
  }
  std::string chosen_for(int node) { return chosen.choice.at(graph.node_list()[static_cast<std::size_t>(node)]).tactic->name; }

  ir::Graph graph = ir::parse_graph(R"((x f32[8,8], v f32[8,8]!, w f32[8,8]!, u f32[8,9]!)
    a = MatMul(x, v)
    b = MatMul(a, w)
    y = MatMul(b, u))",
                                    ir::Registry::builtin(),
                                    {.random_constant = [](DType d, const Shape& s, std::uint64_t n) {
                                      return ops::random_tensor(d, s, n);
                                    }});
  backends::Tactic tactics[3];
  backends::DeviceInfo device;
  BuildConfig config;
  tune::TimingCache cache;
  tune::TuneOptions options;
  tune::Chosen chosen;
  int comparisons = 0;
};

TEST_F(Rivals, AreTakenForAllNodesOfAProblem) {
  const auto times = [](const std::string& node, const std::string& tactic) { return node != "y" && tactic == "near" ? 800.0 : 1000.0; };
  const InModelReport report = run(times, 3000, 2600);
  EXPECT_EQ(report.tried, 2);
  EXPECT_EQ(report.changed, 1);
  EXPECT_DOUBLE_EQ(report.ratio, 2600. / 3000);
  EXPECT_EQ(chosen_for(0), "near");
  EXPECT_EQ(chosen_for(1), "near");
  EXPECT_EQ(chosen_for(2), "own");
  EXPECT_EQ(chosen.nanoseconds, 3040);   // alone they took 20 more each
}

TEST_F(Rivals, TheSecondOneMayWin) {
  run([](const std::string&, const std::string& tactic) { return tactic == "third" ? 700.0 : tactic == "near" ? 900.0 : 1000.0; }, 3, 2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(chosen_for(i), "third");
}

TEST_F(Rivals, StayOutWhereTheRunIsNoShorter) {
  const auto times = [](const std::string&, const std::string& tactic) { return tactic == "near" ? 800.0 : 1000.0; };
  const InModelReport report = run(times, 3000, 3001);
  EXPECT_EQ(report.changed, 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(chosen_for(i), "own");
  EXPECT_EQ(chosen.nanoseconds, 3000);
}

TEST_F(Rivals, ChanceDecidesNothing) {
  run([](const std::string&, const std::string& tactic) { return tactic == "own" ? 1000.0 : 990.0; }, 3000, 2900);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(chosen_for(i), "own");
}

TEST_F(Rivals, WhatTheCacheHasIsNotTimedAgain) {
  const auto times = [](const std::string& node, const std::string& tactic) { return node == "y" && tactic == "near" ? 800.0 : 1000.0; };
  const tune::Chosen before = chosen;
  run(times, 3000, 2800);
  EXPECT_EQ(comparisons, 3);   // each rival, and the whole
  chosen = before, config.error_on_cache_miss = true;
  run(times, 0, 0);
  EXPECT_EQ(comparisons, 3);
  EXPECT_EQ(chosen_for(2), "near");
  chosen = before, cache = {};
  run(times, 3000, 2800);   // nothing may be timed: nothing changes
  EXPECT_EQ(comparisons, 3);
  EXPECT_EQ(chosen_for(2), "own");
}

TEST_F(Rivals, FarOnesAreNotTried) {
  for (auto& [node, timed] : chosen.timed)
    for (std::size_t i = 1; i < 3; ++i) timed[i].nanoseconds = 1151;
  EXPECT_EQ(run([](const std::string&, const std::string&) { return 1.0; }, 2, 1).tried, 0);
  EXPECT_EQ(comparisons, 0);
}

}  // namespace
}  // namespace tenfold::builder
