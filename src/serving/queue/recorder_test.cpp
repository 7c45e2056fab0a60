// What a queue records of its requests, and what that costs them.
#include "queue/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <limits>

namespace tenfold {
namespace {

using namespace std::chrono_literals;
using serving_queue::HistogramCounter;
using serving_queue::Recorder;
using Clock = std::chrono::steady_clock;

BatchRun run_of(std::chrono::microseconds input, std::chrono::microseconds infer, std::chrono::microseconds output) {
  BatchRun run{1, 1, Clock::now(), {}, {}, {}};
  run.compute_start = run.start + input, run.compute_end = run.compute_start + infer, run.end = run.compute_end + output;
  return run;
}

TEST(DurationHistogram, CountsUpToItsBoundInclusive) {
  HistogramCounter counter({1, 2.5, 10});
  for (const std::uint64_t ns : {0, 1000, 1001, 2500, 2501, 10'000, 10'001, 2'000'000'000}) counter.add(ns);
  EXPECT_EQ(counter.get().counts, (std::vector<std::uint64_t>{2, 2, 2, 2}));
  EXPECT_EQ(counter.get().count(), 8u);
}

TEST(DurationHistogram, RefusesBoundsThatDoNotRise) {
  using Limits = std::numeric_limits<double>;
  for (const std::vector<double>& bounds :
       {std::vector<double>{0, 1}, {2, 2}, {3, 1}, {-1}, {Limits::quiet_NaN()}, {Limits::infinity()}})
    EXPECT_THROW(HistogramCounter{bounds}, Error);
  EXPECT_EQ(HistogramCounter({}).get().bounds_us, default_duration_bounds_us());
}

TEST(DurationHistogram, QuantilesAreInsideTheBucketOfTheirRank) {
  HistogramCounter counter({100, 200, 400});
  EXPECT_EQ(counter.get().quantile_us(0.5), 0);
  for (int i = 0; i < 90; ++i) counter.add(150'000);
  for (int i = 0; i < 9; ++i) counter.add(300'000);
  EXPECT_NEAR(counter.get().quantile_us(0.5), 155, 1e-9);   // 49.5 of the 90 in (100, 200]
  EXPECT_GT(counter.get().quantile_us(0.95), 200);
  counter.add(1'000'000);
  EXPECT_EQ(counter.get().quantile_us(1), 400);            // beyond all bounds: the last one
}

TEST(Recorder, HistogramsHaveTheCountsAndTheBoundsOfTheirSums) {
  Recorder recorder({.request = {}, .queue = {10, 20}, .compute_input = {}, .compute_infer = {500}, .compute_output = {}});
  const BatchRun run = run_of(3us, 700us, 1us);
  recorder.received(), recorder.received();
  recorder.finished({nullptr, &run, EndedBy::run}, run.start - 15us);
  const Error error(ErrorKind::internal, "it failed");
  recorder.finished({&error, nullptr, EndedBy::timeout}, run.start);
  const QueueStatistics s = recorder.get();
  EXPECT_EQ(s.received, s.success.count + s.failure.count);
  for (const DurationHistogram* h : {&s.histograms.request, &s.histograms.queue, &s.histograms.compute_input, &s.histograms.compute_infer,
                                     &s.histograms.compute_output})
    EXPECT_EQ(h->count(), 1u);
  EXPECT_EQ(s.histograms.queue.counts, (std::vector<std::uint64_t>{0, 1, 0}));
  EXPECT_EQ(s.histograms.compute_infer.counts, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(s.compute_infer.ns, 700'000u);
}

// The best of many turns, so that what else runs on the machine does not count.
TEST(Recorder, TakesLessThanAMicrosecondOfARequest) {
  Recorder recorder;
  const BatchRun run = run_of(3us, 700us, 1us);
  constexpr int kTurns = 200, kRequests = 1000;
  double best_ns = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < kTurns; ++turn) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kRequests; ++i) {
      recorder.received();
      recorder.closed(BatchClosed::idle);
      recorder.ran(run);
      recorder.finished({nullptr, &run, EndedBy::run}, run.start - 15us);
    }
    best_ns = std::min(best_ns, std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kRequests);
  }
  std::printf("statistics and histograms: %.0f ns a request\n", best_ns);
  EXPECT_EQ(recorder.get().histograms.request.count(), std::uint64_t{kTurns} * kRequests);
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(best_ns, 1000);
#endif
}

}  // namespace
}  // namespace tenfold
