// Times in the cache belong to one machine: another CPU, or the same with other caches or threads, measures its own.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "tune/choice/node_problem.h"
#include "tune/timing/timer.h"
#include "tune/tuner.h"

namespace tenfold::tune {
namespace {

struct Counting final : Timer {
  int calls = 0;
  double time(const backends::Tactic&, const backends::Problem&, const backends::Config&, double) override { return 1000 + ++calls; }
};

struct CachedTimer : testing::Test {
  ir::Graph graph = ir::parse_graph("(x f32[4,6])\n y = Relu(x)", ir::Registry::builtin());
  backends::Tactic tactic{.name = "some"};
  backends::DeviceInfo device{.name = "a CPU, family 6 model 173 stepping 1", .features = backends::kAvx2};
  BuildConfig config{.threads = 2};
  TimingCache cache;
  BuildReport report;
  Counting timer;
  std::string reported;

  void SetUp() override {
    config.log = [this](Severity severity, std::string_view text) {
      EXPECT_EQ(severity, Severity::info);
      reported += text;
    };
  }
  // How often the clock was asked.
  int measured_on(const backends::DeviceInfo& on, int threads = 2) {
    config.threads = threads;
    const TuneOptions options{.config = &config, .cache = &cache, .report = &report};
    const int before = timer.calls;
    const backends::Problem problem = node_problem(*graph.nodes().front(), nullptr, graph.box(), on, 0);
    cached_timer(timer, on, options, false)->time(tactic, problem, {}, 0);
    return timer.calls - before;
  }
};

TEST_F(CachedTimer, OtherCpusMeasureTheirOwnTimes) {
  EXPECT_EQ(measured_on(device), 1);
  EXPECT_EQ(measured_on(device), 0);
  EXPECT_EQ(reported, "");   // an empty cache is no news, nor is one that holds what is needed
  backends::DeviceInfo later = device, smaller = device;
  later.name = "a CPU, family 6 model 207 stepping 2";
  smaller.l2_bytes /= 2;
  EXPECT_EQ(measured_on(later), 1);
  EXPECT_NE(reported.find("of the 1 times in the timing cache none is of this machine (a CPU, family 6 model 207"), std::string::npos)
      << reported;
  EXPECT_EQ(measured_on(smaller), 1);
  EXPECT_EQ(measured_on(device, 1), 1);
  reported.clear();
  EXPECT_EQ(measured_on(device) + measured_on(later) + measured_on(smaller) + measured_on(device, 1), 0);
  EXPECT_EQ(reported, "");
}

// The least time of a key wins, so that times of few launches would stay for good.
TEST_F(CachedTimer, TimesOfSoManyLaunchesStayAmongThemselves) {
  config.timing_repetitions = 1;
  EXPECT_EQ(measured_on(device), 1);
  EXPECT_EQ(measured_on(device), 0);
  config.timing_repetitions = 0;
  EXPECT_EQ(measured_on(device), 1);
  EXPECT_EQ(measured_on(device), 0);
}

TEST_F(CachedTimer, ATimeOfAnEarlierVersionIsNotUsed) {
  cache.insert({"a CPU; avx2; 2 threads", "anything", "some v1", ""}, 5);   // without the model
  EXPECT_EQ(measured_on(device), 1);
  EXPECT_NE(reported.find("none is of this machine"), std::string::npos) << reported;
}

}  // namespace
}  // namespace tenfold::tune
