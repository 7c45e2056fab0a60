// Open loops: what they tell of an engine that is known to stall.
#include "tenfold/open_loop.h"

#include "low_latency/low_latency_for_tests.h"

namespace tenfold {
namespace {

using namespace low_latency;
using namespace std::chrono_literals;

const float kX[16] = {1, 2, 3, 4};

// It sleeps 100 ms once a second and is asked 1,000 times a second. So of 1,000 requests the first of the sleep waits
// 100 ms, the next 99 ms, and so on: 50 wait 50 ms or longer, 10 wait 90 ms, one 99 ms.
// `late_ms`: by how much longer than 100 ms it slept, as machines do that others use.
OpenLoopResult of_a_sleeper(double& late_ms) {
  Troubled t;
  Runner runner({t.rung("sleeps")}, {.warm_up_runs = 1});
  t.wish->runs = 0, t.wish->slept_ns = 0, t.wish->sleep_every = 1000, t.wish->sleep_ns = 100'000'000;
  OpenLoopResult result = run_open_loop(runner, {kX}, {.rate = 1000, .duration = 3s, .warm_up = 0s});
  late_ms = static_cast<double>(t.wish->slept_ns) / 3e6 - 100;
  return result;
}
double ms(const OpenLoopResult& r, double percent) { return static_cast<double>(r.response.percentile(percent)) / 1e6; }

// Within 2 % where nobody else takes the CPU; on a busy machine within 10 % after some tries.
TEST(OpenLoop, AStallCountsForAllThatWaited) {
  double late = 0;
  const auto near = [&](const OpenLoopResult& r, double share) {
    const auto is = [&](double percent, double truth) { return std::abs(ms(r, percent) - truth - late) < share * truth; };
    return is(95, 50) && is(99, 90) && is(99.9, 99);
  };
  OpenLoopResult r = of_a_sleeper(late);
  for (int again = 0; again < 3 && !near(r, 0.02); ++again) r = of_a_sleeper(late);
  const bool busy = run_idle_loop({.rate = 10000, .duration = 500ms, .warm_up = 0s}).response.max() > 1'000'000;
  EXPECT_TRUE(near(r, busy ? 0.1 : 0.02)) << ms(r, 95) << " " << ms(r, 99) << " " << ms(r, 99.9) << ", late by " << late;
  EXPECT_NEAR(static_cast<double>(r.asked), 3000, 2);
  EXPECT_EQ(r.answered, r.asked);
  EXPECT_EQ(r.dropped + r.failed, 0u);
  EXPECT_LT(r.service.percentile(99), 20'000'000) << "service time knows nothing of those that waited";
  EXPECT_GE(r.service.max(), 100'000'000);
  EXPECT_GE(r.behind, 250u);
  EXPECT_NEAR(r.seconds, 3, 0.2);
}

TEST(OpenLoop, ThroughRingsWhatIsDroppedIsCounted) {
  Troubled t;
  Runner runner({t.rung("slow")}, {.warm_up_runs = 1});
  t.wish->sleep_ns = 5'000'000;
  RunnerPort port = runner.open_port({.slots = 4, .when_full = WhenFull::drop_oldest});
  RunnerThread thread({&runner});
  const OpenLoopResult r = run_open_loop(port, thread, {kX}, {.rate = 1000, .duration = 500ms, .warm_up = 0s});
  EXPECT_NEAR(static_cast<double>(r.asked), 500, 2);
  EXPECT_GT(r.dropped, 300u);
  EXPECT_EQ(r.answered + r.dropped, r.asked);
  EXPECT_GE(r.response.min(), 5'000'000);
  EXPECT_GE(r.response.percentile(50), r.service.percentile(50));
}

TEST(OpenLoop, PoissonArrivalsAreIndependent) {
  const OpenLoopResult r = run_idle_loop({.rate = 20000, .arrivals = Arrivals::poisson, .duration = 1s, .warm_up = 0s});
  EXPECT_NEAR(static_cast<double>(r.asked), 20000, 700) << "five standard deviations";
  const OpenLoopResult again = run_idle_loop({.rate = 20000, .arrivals = Arrivals::poisson, .duration = 1s, .warm_up = 0s});
  EXPECT_EQ(again.asked, r.asked) << "one seed";
}

TEST(OpenLoop, KeepsWarmWhileNothingIsAsked) {
  Troubled t;
  Runner runner({t.rung("x + 1")}, {.warm_up_runs = 1});
  t.wish->runs = 0;
  run_open_loop(runner, {kX}, {.rate = 10, .duration = 300ms, .warm_up = 0s, .keep_warm = 5ms});
  EXPECT_GT(t.wish->runs, 15) << "three requests, the others between them";
  EXPECT_EQ(runner.counts().answered, 3u);
  t.wish->runs = 0;
  RunnerPort port = runner.open_port();
  {
    RunnerThread thread({&runner}, {.keep_warm = 2ms});
    EXPECT_TRUE(comes_true([&] { return t.wish->runs > 5; }));
  }
  EXPECT_EQ(runner.counts().answered, 3u);
}

TEST(OpenLoop, ClosedLoopsAndMistakes) {
  const ToyCnn cnn;
  Runner runner(cnn.engine());
  const std::vector<float> x = cnn.input(1);
  EXPECT_GT(run_closed_loop(runner, {x.data()}, 100ms), 1000);
  EXPECT_THROW(run_closed_loop(runner, {}, 100ms), Error);
  EXPECT_THROW(run_closed_loop(runner, {x.data()}, 0ms), Error);
  EXPECT_THROW(run_open_loop(runner, {x.data(), nullptr}, {}), Error);
  EXPECT_THROW(run_open_loop(runner, {x.data()}, {.rate = 0}), Error);
  EXPECT_THROW(run_open_loop(runner, {x.data()}, {.rate = 1e12}), Error);
  EXPECT_THROW(run_idle_loop({.duration = 0s}), Error);
}

}  // namespace
}  // namespace tenfold
