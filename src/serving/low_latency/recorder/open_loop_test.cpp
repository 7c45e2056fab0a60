// Open loops: what they tell of an engine that is known to stall.
#include "tenfold/open_loop.h"

#include <algorithm>
#include <map>

#include "low_latency/low_latency_for_tests.h"

namespace tenfold {
namespace {

using namespace low_latency;
using namespace std::chrono_literals;

const float kX[16] = {1, 2, 3, 4};

double ms(const OpenLoopResult& r, double percent) { return static_cast<double>(r.response.percentile(percent)) / 1e6; }

// An engine that sleeps 100 ms once a second and is asked 1,000 times a second. So of 1,000 requests the first of the sleep waits 100 ms,
// the next 99 ms, and so on: 50 wait 50 ms or longer, 10 wait 90 ms, one 99 ms.
struct Sleeper {
  OpenLoopResult reported;
  std::vector<double> waited;  // ms, by the engine's own clock, sorted: longer than those above where others use the machine

  Sleeper() {
    constexpr int kRequests = 3000;
    Troubled t;
    LatencyRunner runner({t.candidate("sleeps")}, {.warm_up_runs = 1});
    std::vector<std::int64_t> ended;
    ended.reserve(2 * kRequests);
    t.wish->runs = 0, t.wish->sleep_every = 1000, t.wish->sleep_ns = 100'000'000, t.wish->ended_ns = &ended;
    reported = run_open_loop(runner, {kX}, {.rate = 1000, .duration = std::chrono::milliseconds(kRequests), .warm_up = 0s});
    // Requests are due a millisecond apart, so the fastest answer tells when the first was due.
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < ended.size(); ++i) first = std::min(first, ended[i] - static_cast<std::int64_t>(i) * 1'000'000);
    for (std::size_t i = 0; i < ended.size(); ++i) waited.push_back(static_cast<double>(ended[i] - first) / 1e6 - static_cast<double>(i));
    std::sort(waited.begin(), waited.end());
  }
  double of_all(double percent) const {
    return waited[static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(waited.size()))) - 1];
  }
};

TEST(OpenLoop, AStallCountsForAllThatWaited) {
  const std::map<double, double> wait_of{{95, 50}, {99, 90}, {99.9, 99}};
  Sleeper sleeper;
  const auto machine_was_quiet = [&] {
    return std::all_of(wait_of.begin(), wait_of.end(),
                       [&](const auto& w) { return std::abs(sleeper.of_all(w.first) - w.second) < 0.01 * w.second; });
  };
  for (int again = 0; again < 3 && !machine_was_quiet(); ++again) sleeper = Sleeper();
  const OpenLoopResult& r = sleeper.reported;
  const bool quiet = machine_was_quiet();
  for (const auto& [percent, wait] : wait_of) {
    const double is = sleeper.of_all(percent);
    EXPECT_NEAR(ms(r, percent), is, 0.02 * is) << "p" << percent;
    if (quiet) {
      EXPECT_NEAR(ms(r, percent), wait, 0.02 * wait) << "p" << percent;
    }
    EXPECT_GT(ms(r, percent), 0.9 * wait) << "p" << percent << ": the stall did not count for all";
  }
  EXPECT_NEAR(static_cast<double>(r.requests), 3000, 2);
  EXPECT_EQ(r.answered, r.requests);
  EXPECT_EQ(r.dropped + r.failed, 0u);
  EXPECT_LT(r.service.percentile(99), 20'000'000) << "service time knows nothing of those that waited";
  EXPECT_GE(r.service.max(), 100'000'000);
  EXPECT_GE(r.late_requests, 250u);
}

TEST(OpenLoop, ThroughRingsWhatIsDroppedIsCounted) {
  Troubled t;
  LatencyRunner runner({t.candidate("slow")}, {.warm_up_runs = 1});
  t.wish->sleep_ns = 5'000'000;
  RunnerPort port = runner.open_port({.slots = 4, .when_full = WhenFull::drop_oldest});
  RunnerThread thread({&runner});
  const OpenLoopResult r = run_open_loop(port, thread, {kX}, {.rate = 1000, .duration = 500ms, .warm_up = 0s});
  EXPECT_NEAR(static_cast<double>(r.requests), 500, 2);
  EXPECT_GT(r.dropped, 300u);
  EXPECT_EQ(r.answered + r.dropped, r.requests);
  EXPECT_GE(r.response.min(), 5'000'000);
  EXPECT_GE(r.response.percentile(50), r.service.percentile(50));
}

TEST(OpenLoop, PoissonArrivalsAreIndependent) {
  const OpenLoopResult r = run_idle_loop({.rate = 20000, .arrivals = Arrivals::poisson, .duration = 1s, .warm_up = 0s});
  EXPECT_NEAR(static_cast<double>(r.requests), 20000, 700) << "five standard deviations";
  const OpenLoopResult again = run_idle_loop({.rate = 20000, .arrivals = Arrivals::poisson, .duration = 1s, .warm_up = 0s});
  EXPECT_EQ(again.requests, r.requests) << "one seed";
}

TEST(OpenLoop, KeepsWarmWhileNothingIsAsked) {
  Troubled t;
  LatencyRunner runner({t.candidate("x + 1")}, {.warm_up_runs = 1});
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
  LatencyRunner runner(cnn.engine());
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
