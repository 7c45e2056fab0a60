// pool_bench: what it costs to hand a step to all workers and to wait for them.
//
//   pool_bench [THREADS]    (default: 1, 2, 4 ... all processors)
//
// Steps follow each other as in a run, so workers are awake. A step of no work shows the cost alone; of 20 us of work for each worker, what
// that adds to a step of the size of a small layer's.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include "base/threads/thread_pool.h"

namespace {

using Clock = std::chrono::steady_clock;
double microseconds(Clock::time_point from, Clock::time_point to) { return std::chrono::duration<double, std::micro>(to - from).count(); }

void spin(double us) {
  for (const auto start = Clock::now(); microseconds(start, Clock::now()) < us;) {
  }
}

void measure(int threads, double us_each) {
  constexpr int kWarm = 200, kSteps = 2000;
  tenfold::ThreadPool pool({.threads = threads});
  std::vector<double> times;
  for (int i = 0; i < kWarm + kSteps; ++i) {
    const auto start = Clock::now();
    pool.for_each(threads, [&](std::int64_t, int) { if (us_each > 0) spin(us_each); });
    if (i >= kWarm) times.push_back(microseconds(start, Clock::now()) - us_each);
  }
  std::sort(times.begin(), times.end());
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / kSteps;
  std::printf("%2d threads, %2.0f us each: %5.2f us more at the median, %5.2f in the mean, %5.2f in the slowest tenth, "
              "%5.1f in the slowest hundredth\n",
              threads, us_each, times[kSteps / 2], mean, times[kSteps * 9 / 10], times[kSteps * 99 / 100]);
}

}  // namespace

int main(int argc, char** argv) {
  const int all = static_cast<int>(std::thread::hardware_concurrency()), only = argc > 1 ? std::atoi(argv[1]) : 0;
  if (argc > 2 || (argc > 1 && only < 1)) return std::fprintf(stderr, "pool_bench [THREADS]\n"), 2;
  for (int threads = only ? only : 1; threads <= (only ? only : all); threads *= 2)
    for (const double us : {0.0, 20.0}) measure(threads, us);
}
