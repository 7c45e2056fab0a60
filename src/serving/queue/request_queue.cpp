// The queue's threads: one for each instance, and one that acts on timeouts.
#include "tenfold/serving/request_queue.h"

#include <algorithm>
#include <utility>

#include "queue/impl.h"
#include "tenfold/internal/processor_slice.h"

namespace tenfold {

using namespace serving_queue;

RequestQueue::Impl::Impl(std::vector<std::unique_ptr<ServedInstance>> given, QueueOptions given_options)
    : options(std::move(given_options)), recorder(options.histogram_bounds), instances(std::move(given)), waiting(options) {
  for (const auto& instance : instances) threads.emplace_back([this, &instance] { serve(*instance); });
  threads.emplace_back([this] { watch_deadlines(); });
}

Entries RequestQueue::Impl::next_batch() {
  std::unique_lock lock(mutex);
  while (true) {
    arrived.wait(lock, [&] { return stopping || !waiting.empty(); });
    const Clock::time_point now = Clock::now();
    if (now >= waiting.next_deadline()) expire(lock, now);   // the thread of timeouts may be late
    if (waiting.empty()) {
      if (stopping) return {};
      continue;
    }
    const Choice choice = choose(waiting.entries(), options, now, stopping);
    if (!choice.closed) {
      arrived.wait_until(lock, choice.until);
      continue;
    }
    recorder.closed(*choice.closed);
    waiting.note_overtaken(choice.overtaken);
    Entries batch = waiting.take(choice.members);
    const bool more = !waiting.empty();
    lock.unlock();
    if (more) arrived.notify_one();   // another instance may be free
    return batch;
  }
}

void RequestQueue::Impl::serve(ServedInstance& instance) {
  set_processor_slice(0, kShortSlice);   // a request must not wait for a model that loads meanwhile
  Clock::time_point last_run;
  std::vector<ServedRequest*> requests;
  std::int64_t memory = 0;
  while (true) {
    // In this thread, for contexts come and go with runs.
    const std::int64_t now = instance.memory_bytes();
    memory_bytes += now - std::exchange(memory, now);
    const Entries batch = next_batch();
    if (batch.empty()) return;
    requests.clear();
    for (const auto& entry : batch) entry->runs_after(&last_run), requests.push_back(entry.get());
    instance.run(requests);
  }
}

void RequestQueue::Impl::expire(std::unique_lock<std::mutex>& lock, Clock::time_point now) {
  const Entries expired = waiting.expire(now);
  if (expired.empty()) return;
  lock.unlock();
  for (const auto& entry : expired) entry->refuse(EndedBy::timeout);
  lock.lock();
}

void RequestQueue::Impl::watch_deadlines() {
  set_processor_slice(0, kShortSlice);
  std::unique_lock lock(mutex);
  while (!stopping || !waiting.empty()) {
    watched = waiting.next_deadline();
    if (watched == Clock::time_point::max()) deadlines_changed.wait(lock);
    else deadlines_changed.wait_until(lock, watched);
    expire(lock, Clock::now());
  }
}

EndedBy RequestQueue::Impl::accept(Entries& entries) {
  if (entries.empty()) return EndedBy::run;
  const Clock::time_point deadline = entries.front()->deadline;
  bool earlier = false;
  {
    const std::lock_guard lock(mutex);
    if (stopping) return EndedBy::stop;
    if (!waiting.has_place(entries.front()->level)) return EndedBy::full_queue;
    for (auto& entry : entries) {
      if (options.preserve_ordering) entry->enter(order);
      waiting.add(std::move(entry));             // if this throws, the request was not received
      recorder.received();
    }
    earlier = deadline < watched;
    if (earlier) watched = deadline;
  }
  arrived.notify_one();
  if (earlier) deadlines_changed.notify_one();
  return EndedBy::run;
}

RequestQueue::RequestQueue(std::vector<std::unique_ptr<ServedInstance>> instances, QueueOptions options)
    : impl_(std::make_unique<Impl>(std::move(instances), std::move(options))) {}

RequestQueue::~RequestQueue() { stop(); }

void RequestQueue::submit(std::shared_ptr<ServedRequest> request, std::chrono::microseconds timeout, std::uint32_t priority) {
  impl_->submit({&request, 1}, timeout, priority);
}

void RequestQueue::submit(std::span<const std::shared_ptr<ServedRequest>> requests, std::chrono::microseconds timeout) {
  impl_->submit(requests, timeout, 0);
}

void RequestQueue::Impl::submit(std::span<const std::shared_ptr<ServedRequest>> requests, std::chrono::microseconds timeout,
                                std::uint32_t priority) {
  Entries entries;
  for (const std::shared_ptr<ServedRequest>& request : requests) {
    entries.push_back(std::make_unique<Entry>(request, recorder, options.max_batch > 0));
    entries.back()->level = waiting.level_of(priority);
    waiting.set_deadline(*entries.back(), timeout);
  }
  const EndedBy refused = accept(entries);
  if (refused == EndedBy::run) return;
  for (const auto& entry : entries) {
    recorder.received();
    entry->refuse(refused);
  }
}

bool RequestQueue::cancel(const ServedRequest& request) noexcept {
  std::unique_lock lock(impl_->mutex);
  const std::unique_ptr<Entry> found = impl_->waiting.take(request);
  lock.unlock();
  if (found) found->refuse(EndedBy::cancel);
  return found != nullptr;
}

void RequestQueue::note_cache_hit(Clock::time_point arrival, Clock::time_point start) noexcept {
  impl_->recorder.cache_hit(arrival, start);
}
void RequestQueue::note_cache_miss(std::chrono::nanoseconds looked) noexcept { impl_->recorder.cache_miss(looked); }

void RequestQueue::stop() noexcept {
  const std::lock_guard joining(impl_->stop_mutex);
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
    impl_->arrived.notify_all();
    impl_->deadlines_changed.notify_all();
  }
  // The thread of timeouts waits for the last request to leave, so it is told when the instances have stopped.
  for (std::thread& thread : impl_->threads) {
    if (&thread == &impl_->threads.back()) {
      const std::lock_guard lock(impl_->mutex);
      impl_->deadlines_changed.notify_all();
    }
    if (thread.joinable()) thread.join();
  }
}

QueueStatistics RequestQueue::statistics() const {
  QueueStatistics statistics = impl_->recorder.get();
  statistics.memory_bytes = impl_->memory_bytes;
  const std::lock_guard lock(impl_->mutex);
  statistics.waiting = impl_->waiting.size();
  return statistics;
}

}  // namespace tenfold
