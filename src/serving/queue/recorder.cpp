#include "queue/recorder.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tenfold {

using serving_queue::HistogramCounter;
using serving_queue::Recorder;

namespace {

using Clock = std::chrono::steady_clock;

std::uint64_t ns_between(Clock::time_point from, Clock::time_point to) {
  return to > from ? static_cast<std::uint64_t>(std::chrono::nanoseconds(to - from).count()) : 0;
}
void add(DurationSum& sum, std::uint64_t ns) { ++sum.count, sum.ns += ns; }
void add(DurationSum& sum, HistogramCounter& histogram, Clock::time_point from, Clock::time_point to) {
  const std::uint64_t ns = ns_between(from, to);
  add(sum, ns);
  histogram.add(ns);
}

}  // namespace

HistogramCounter::HistogramCounter(std::vector<double> bounds_us) {
  histogram_.bounds_us = bounds_us.empty() ? default_duration_bounds_us() : std::move(bounds_us);
  double last = 0;
  for (const double bound : histogram_.bounds_us) {
    if (!(bound > last) || bound > 1e12)
      throw Error(ErrorKind::invalid_argument, "bounds of a histogram must rise and lie above 0 and up to 1e12 microseconds, but one is " +
                                                   std::to_string(bound) + " behind " + std::to_string(last));
    bounds_ns_.push_back(static_cast<std::uint64_t>(std::floor(bound * 1000)));
    last = bound;
  }
  histogram_.counts.resize(bounds_ns_.size() + 1);
}

void HistogramCounter::add(std::uint64_t ns) noexcept {
  ++histogram_.counts[static_cast<std::size_t>(std::lower_bound(bounds_ns_.begin(), bounds_ns_.end(), ns) - bounds_ns_.begin())];
}

Recorder::Recorder(const DurationBounds& bounds)
    : request_(bounds.request), queue_(bounds.queue), compute_input_(bounds.compute_input), compute_infer_(bounds.compute_infer),
      compute_output_(bounds.compute_output) {}

void Recorder::succeeded(const BatchRun* run, Clock::time_point arrival, Clock::time_point now) noexcept {
  add(sums_.success, request_, arrival, now);
  if (!run) return;
  add(sums_.queue, queue_, arrival, run->start);
  add(sums_.compute_input, compute_input_, run->start, run->compute_start);
  add(sums_.compute_infer, compute_infer_, run->compute_start, run->compute_end);
  add(sums_.compute_output, compute_output_, run->compute_end, run->end);
}

void Recorder::received() {
  const std::lock_guard lock(mutex_);
  ++sums_.received;
}

void Recorder::finished(const RequestOutcome& outcome, Clock::time_point arrival) noexcept {
  const Clock::time_point now = Clock::now();
  const std::lock_guard lock(mutex_);
  if (!outcome.error) return succeeded(outcome.run, arrival, now);
  add(sums_.failure, ns_between(arrival, now));
  const bool ran = outcome.ended_by == EndedBy::run;
  if (outcome.ended_by == EndedBy::cancel || (ran && outcome.error->kind() == ErrorKind::cancelled)) ++sums_.cancelled;
  else if (ran) ++sums_.failed;
  else ++sums_.rejected;
}

void Recorder::ran(const BatchRun& run) {
  const std::lock_guard lock(mutex_);
  ++sums_.executions;
  sums_.inferences += static_cast<std::uint64_t>(run.rows);
  BatchSizeStatistics& of_size = sums_.batches[run.rows];
  add(of_size.compute_input, ns_between(run.start, run.compute_start));
  add(of_size.compute_infer, ns_between(run.compute_start, run.compute_end));
  add(of_size.compute_output, ns_between(run.compute_end, run.end));
  sums_.last_inference = std::chrono::system_clock::now();
}

void Recorder::closed(BatchClosed reason) {
  const std::lock_guard lock(mutex_);
  ++sums_.closed[static_cast<std::size_t>(reason)];
}

void Recorder::cache_hit(Clock::time_point arrival, Clock::time_point start) noexcept {
  const Clock::time_point now = Clock::now();
  const std::lock_guard lock(mutex_);
  ++sums_.received;
  succeeded(nullptr, arrival, now);
  add(sums_.queue, queue_, arrival, arrival);      // as Triton, where perf_analyzer finds versions by it
  add(sums_.cache_hit, ns_between(start, now));
}

void Recorder::cache_miss(std::chrono::nanoseconds looked) noexcept {
  const std::lock_guard lock(mutex_);
  ++sums_.cache_miss.count;
  sums_.cache_miss.ns += static_cast<std::uint64_t>(looked.count());
}

QueueStatistics Recorder::get() const {
  const std::lock_guard lock(mutex_);
  QueueStatistics statistics = sums_;
  statistics.histograms = {request_.get(), queue_.get(), compute_input_.get(), compute_infer_.get(), compute_output_.get()};
  return statistics;
}

std::string_view name(BatchClosed reason) {
  constexpr std::string_view kNames[] = {"full", "preferred", "delay", "idle", "shape", "tokens"};
  static_assert(std::size(kNames) == kBatchClosedReasons);
  return kNames[static_cast<std::size_t>(reason)];
}

}  // namespace tenfold
