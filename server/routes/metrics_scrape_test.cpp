// How long the text of /metrics takes where there are 1,000 models.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>

#include "routes/metrics_parts.h"

namespace tenfold::server {
namespace {

TEST(Metrics, OfAThousandModelsTakeLessThanTwentyMilliseconds) {
  using Clock = std::chrono::steady_clock;
  std::vector<SampledModel> models(1000);
  for (std::size_t i = 0; i < models.size(); ++i) {
    models[i].labels = "model=\"model_" + std::to_string(i) + "\",version=\"1\"";
    QueueStatistics& s = models[i].statistics;
    s.received = s.success.count = 1'000'000 + i, s.success.ns = 123'456'789'012;
    for (DurationHistogram* h : {&s.histograms.request, &s.histograms.queue, &s.histograms.compute_input, &s.histograms.compute_infer,
                                 &s.histograms.compute_output}) {
      h->bounds_us = default_duration_bounds_us();
      h->counts.assign(h->bounds_us.size() + 1, 12'345 + i);
    }
  }
  double best_ms = std::numeric_limits<double>::infinity();  // of many: what else runs on the machine does not count
  std::size_t bytes = 0;
  for (int turn = 0; turn < 30; ++turn) {
    const Clock::time_point start = Clock::now();
    bytes = metrics_text(models).size();
    best_ms = std::min(best_ms, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::printf("the text of 1,000 models: %.1f ms, %.1f MB\n", best_ms, static_cast<double>(bytes) / 1e6);
  EXPECT_GT(bytes, 5'000'000u);
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(best_ms, 20);
#endif
}

}  // namespace
}  // namespace tenfold::server
