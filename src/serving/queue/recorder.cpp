#include "queue/recorder.h"

#include <iterator>

namespace tenfold {

using serving_queue::Recorder;

namespace {

using Clock = std::chrono::steady_clock;

void add(DurationSum& sum, Clock::time_point from, Clock::time_point to, std::uint64_t count = 1) {
  sum.count += count;
  if (to > from) sum.ns += count * static_cast<std::uint64_t>(std::chrono::nanoseconds(to - from).count());
}

}  // namespace

void Recorder::received() {
  const std::lock_guard lock(mutex_);
  ++sums_.received;
}

void Recorder::finished(const RequestOutcome& outcome, Clock::time_point arrival) noexcept {
  const Clock::time_point now = Clock::now();
  const std::lock_guard lock(mutex_);
  if (!outcome.error) {
    add(sums_.success, arrival, now);
    if (!outcome.run) return;
    add(sums_.queue, arrival, outcome.run->start);
    add(sums_.compute_input, outcome.run->start, outcome.run->compute_start);
    add(sums_.compute_infer, outcome.run->compute_start, outcome.run->compute_end);
    add(sums_.compute_output, outcome.run->compute_end, outcome.run->end);
    return;
  }
  add(sums_.failure, arrival, now);
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
  add(of_size.compute_input, run.start, run.compute_start);
  add(of_size.compute_infer, run.compute_start, run.compute_end);
  add(of_size.compute_output, run.compute_end, run.end);
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
  add(sums_.success, arrival, now);
  add(sums_.cache_hit, start, now);
}

void Recorder::cache_miss(std::chrono::nanoseconds looked) noexcept {
  const std::lock_guard lock(mutex_);
  ++sums_.cache_miss.count;
  sums_.cache_miss.ns += static_cast<std::uint64_t>(looked.count());
}

QueueStatistics Recorder::get() const {
  const std::lock_guard lock(mutex_);
  return sums_;
}

std::string_view name(BatchClosed reason) {
  constexpr std::string_view kNames[] = {"full", "preferred", "delay", "idle", "shape", "tokens"};
  static_assert(std::size(kNames) == kBatchClosedReasons);
  return kNames[static_cast<std::size_t>(reason)];
}

}  // namespace tenfold
