// Building, saving and loading take time in proportion to the number of nodes, whatever the graph's form.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "base/check.h"
#include "builder/builder.h"
#include "limits_graphs.h"

namespace tenfold {
namespace {

// Seconds of processor time, of all threads: what else runs on the machine does not count.
double seconds_of(const auto& work) {
  const std::clock_t before = std::clock();
  work();
  return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
}

// Nothing is timed at level 0: what is left is import's, the passes', the tuner's, the plan's and the loader's own work.
double seconds_to_build(const ir::Graph& graph) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / cat("tenfold_build_time_", ::getpid(), ".plan");
  BuildConfig config;
  config.optimization_level = 0, config.threads = 1;
  const double seconds = seconds_of([&] {
    BuildReport report;
    builder::build_graph(graph, config, "", &report).save(path.string());
    Engine::load(path.string(), {.threads = 1});
  });
  std::filesystem::remove(path);
  return seconds;
}

struct Form {
  const char* name;
  std::string (*grow)(limits::Line&, int);
};
class BuildTime : public testing::TestWithParam<Form> {};

// Eight times the nodes may take forty times as long: what fits into a cache is faster, and twenty times was seen. A quadratic part would
// take sixty-four times once it counts. What shares the machine may slow a build down, so that the least of two counts.
TEST_P(BuildTime, GrowsLinearly) {
  constexpr int kNodes = 2500;
  constexpr double kSeconds = 20;   // of 20,000 nodes, nothing timed
  const ir::Graph small = limits::large(GetParam().grow, kNodes), large = limits::large(GetParam().grow, 8 * kNodes);
  const double one = std::max(0.05, std::min(seconds_to_build(small), seconds_to_build(small)));
  double eight = seconds_to_build(large);
  if (eight > std::min(40 * one, kSeconds)) eight = std::min(eight, seconds_to_build(large));
  std::printf("%d nodes: %.2f s, %d nodes: %.2f s\n", kNodes, one, 8 * kNodes, eight);
  EXPECT_LT(eight, 40 * one);
#ifndef TENFOLD_SANITIZED
  EXPECT_LT(eight, kSeconds);
#endif
}

INSTANTIATE_TEST_SUITE_P(Forms, BuildTime,
                         testing::Values(Form{"PointwiseChain", limits::pointwise_chain}, Form{"ProductChain", limits::product_chain},
                                         Form{"MixedChain", limits::mixed_chain}, Form{"Branches", limits::branches},
                                         Form{"ProductBranches", limits::product_branches}, Form{"ManyOutputs", limits::many_outputs},
                                         Form{"ManyPieces", limits::many_pieces}, Form{"ManyConstants", limits::many_constants},
                                         Form{"Diamonds", limits::diamonds}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenfold
