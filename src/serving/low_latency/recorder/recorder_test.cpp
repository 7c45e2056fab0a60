// Recorders beside sorted samples. (That HdrHistogram's tools read their files, tests/latency_test.py tries.)
#include "low_latency/recorder/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tenfold/error.h"

namespace tenfold {
namespace {

using namespace low_latency;

TEST(Recorder, BucketsCoverEveryValueOnce) {
  std::int64_t next = 0;
  for (int i = 0; i < kBuckets; ++i) {
    ASSERT_EQ(begin_of(i), next);
    ASSERT_EQ(bucket_of(begin_of(i)), i);
    ASSERT_EQ(bucket_of(begin_of(i) + width_of(i) - 1), i);
    ASSERT_LE(static_cast<double>(width_of(i)), std::max(1.0, static_cast<double>(begin_of(i)) / 1000));
    next = begin_of(i) + width_of(i);
  }
}

TEST(Recorder, PercentilesAreThoseOfSortedSamples) {
  std::mt19937_64 random(5);
  std::lognormal_distribution<double> times(9, 2);
  std::vector<std::int64_t> all(300000);
  for (std::int64_t& ns : all) ns = std::clamp(static_cast<std::int64_t>(times(random)), std::int64_t{1}, LatencyRecorder::kLongest);
  LatencyRecorder first, second;
  first.record(std::span(all).first(1000));
  for (std::size_t i = 1000; i < all.size(); ++i) second.record(all[i]);
  first.add(second);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(first.count(), all.size());
  EXPECT_EQ(first.min(), all.front());
  EXPECT_EQ(first.max(), all.back());
  for (const double p : {0.0, 1.0, 25.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999, 100.0}) {
    const auto rank = static_cast<std::size_t>(std::max(std::ceil(p / 100 * static_cast<double>(all.size()) - 1e-6), 1.0));
    const std::int64_t truth = all[rank - 1], got = first.percentile(p);
    EXPECT_GE(got, truth) << p;
    EXPECT_LT(got - truth, LatencyRecorder::bucket_width(truth)) << p;
  }
  double mean = 0;
  for (const std::int64_t ns : all) mean += static_cast<double>(ns) / static_cast<double>(all.size());
  EXPECT_NEAR(first.mean() / mean, 1, 1e-3);
  first.clear();
  EXPECT_EQ(first.count(), 0u);
  EXPECT_EQ(first.percentile(50) + first.max() + first.min(), 0);
}

TEST(Recorder, WhatIsOutsideIsKeptInside) {
  LatencyRecorder r;
  for (const std::int64_t ns : {std::int64_t{-5}, std::int64_t{0}, std::int64_t{1} << 60}) r.record(ns);
  EXPECT_EQ(r.min(), 1);
  EXPECT_EQ(r.max(), LatencyRecorder::kLongest);
  EXPECT_EQ(r.percentile(100), LatencyRecorder::kLongest);
}

TEST(Recorder, LogsRefuseTagsThatBreakLines) {
  const LatencyRecorder r;
  const auto log = [&](const std::string& tag) { return histogram_log(0, std::vector<HistogramLogEntry>{{tag, &r, 0, 1}}); };
  EXPECT_NE(log("service").find("\nTag=service,0.000,1.000,0.000,HISTFAAA"), std::string::npos) << log("service");
  EXPECT_THROW(log("a,b"), Error);
  EXPECT_THROW(log("a\nb"), Error);
}

}  // namespace
}  // namespace tenfold
