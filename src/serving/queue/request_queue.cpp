// The queue's threads: one for each instance, and one that ends requests whose timeout passes.
#include "tenfold/serving/request_queue.h"

#include <algorithm>

#include "queue/impl.h"

namespace tenfold {

using namespace serving_queue;

namespace {

std::string_view words(EndedBy why) {
  switch (why) {
    case EndedBy::full_queue: return "the queue is full";
    case EndedBy::timeout: return "the request's timeout passed before it could run";
    case EndedBy::cancel: return "the request was cancelled";
    default: return "the model takes no more requests";
  }
}

std::int64_t rows_of(const ServedRequest& request, bool batched) {
  const auto inputs = request.inputs();
  return batched && !inputs.empty() && !inputs[0].shape.empty() ? std::max<std::int64_t>(inputs[0].shape[0], 1) : 1;
}

}  // namespace

Entry::Entry(std::shared_ptr<ServedRequest> request, Recorder& recorder, bool batched)
    : rows(rows_of(*request, batched)), token_count(request->tokens()), arrival(Clock::now()), request_(std::move(request)),
      recorder_(recorder) {}

void* Entry::output_memory(int output, std::span<const std::int64_t> shape, std::int64_t bytes) {
  return request_->output_memory(output, shape, bytes);
}
void Entry::take_strings(int output, std::span<const std::int64_t> shape, std::span<const std::string> values) {
  request_->take_strings(output, shape, values);
}
void Entry::finish(const RequestOutcome& outcome) noexcept {
  if (outcome.run && last_run_ && *last_run_ != outcome.run->start) {   // the first that hears of this run
    *last_run_ = outcome.run->start;
    recorder_.ran(*outcome.run);
  }
  recorder_.finished(outcome, arrival);
  request_->finish(outcome);
}
void Entry::refuse(EndedBy why) noexcept {
  const Error error(ErrorKind::cancelled, std::string(words(why)));
  finish({&error, nullptr, why});
}

RequestQueue::Impl::Impl(std::vector<std::unique_ptr<ServedInstance>> given, QueueOptions given_options)
    : options(std::move(given_options)), instances(std::move(given)) {
  for (const auto& instance : instances) threads.emplace_back([this, &instance] { serve(*instance); });
  threads.emplace_back([this] { watch_deadlines(); });
}

Entries RequestQueue::Impl::next_batch() {
  std::unique_lock lock(mutex);
  while (true) {
    arrived.wait(lock, [&] { return stopping || !waiting.empty(); });
    if (waiting.empty()) return {};
    const Choice choice = choose(waiting, options, Clock::now(), stopping);
    if (!choice.closed) {
      arrived.wait_until(lock, choice.until);
      continue;
    }
    recorder.closed(*choice.closed);
    for (const std::size_t place : choice.overtaken) ++waiting[place]->overtaken;
    Entries batch;
    for (const std::size_t place : choice.members) batch.push_back(std::move(waiting[place]));
    std::erase(waiting, nullptr);
    if (!waiting.empty()) arrived.notify_one();   // another instance may be free
    return batch;
  }
}

void RequestQueue::Impl::serve(ServedInstance& instance) {
  Clock::time_point last_run;
  while (true) {
    const Entries batch = next_batch();
    if (batch.empty()) return;
    std::vector<ServedRequest*> requests;
    for (const auto& entry : batch) entry->runs_after(&last_run), requests.push_back(entry.get());
    instance.run(requests);
  }
}

Entries RequestQueue::Impl::take_expired(Clock::time_point now) {
  Entries expired;
  for (auto& entry : waiting)
    if (entry->deadline <= now) expired.push_back(std::move(entry));
  std::erase(waiting, nullptr);
  return expired;
}

void RequestQueue::Impl::watch_deadlines() {
  std::unique_lock lock(mutex);
  while (!stopping || !waiting.empty()) {
    auto next = Clock::time_point::max();
    for (const auto& entry : waiting) next = std::min(next, entry->deadline);
    if (next == Clock::time_point::max()) deadlines_changed.wait(lock);
    else deadlines_changed.wait_until(lock, next);
    const Entries expired = take_expired(Clock::now());
    lock.unlock();
    for (const auto& entry : expired) entry->refuse(EndedBy::timeout);
    lock.lock();
  }
}

RequestQueue::RequestQueue(std::vector<std::unique_ptr<ServedInstance>> instances, QueueOptions options)
    : impl_(std::make_unique<Impl>(std::move(instances), std::move(options))) {}

RequestQueue::~RequestQueue() { stop(); }

void RequestQueue::submit(std::shared_ptr<ServedRequest> request, std::chrono::microseconds timeout) {
  submit(std::span<const std::shared_ptr<ServedRequest>>(&request, 1), timeout);
}

void RequestQueue::submit(std::span<const std::shared_ptr<ServedRequest>> requests, std::chrono::microseconds timeout) {
  const QueueOptions& options = impl_->options;
  if (timeout.count() <= 0 || (options.default_timeout.count() > 0 && options.default_timeout < timeout))
    timeout = options.default_timeout;
  Entries entries;
  for (const std::shared_ptr<ServedRequest>& request : requests) {
    entries.push_back(std::make_unique<Entry>(request, impl_->recorder, options.max_batch > 0));
    if (timeout.count() > 0) entries.back()->deadline = entries.back()->arrival + timeout;
    impl_->recorder.received();
  }
  EndedBy refused = EndedBy::run;
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->stopping) refused = EndedBy::stop;
    else if (options.max_requests > 0 && impl_->waiting.size() >= options.max_requests) refused = EndedBy::full_queue;
    if (refused == EndedBy::run) {
      for (auto& entry : entries) impl_->waiting.push_back(std::move(entry));
      impl_->arrived.notify_one();
      if (timeout.count() > 0) impl_->deadlines_changed.notify_one();
    }
  }
  if (refused == EndedBy::run) return;
  for (const auto& entry : entries) entry->refuse(refused);
}

bool RequestQueue::cancel(const ServedRequest& request) noexcept {
  std::unique_ptr<Entry> found;
  {
    const std::lock_guard lock(impl_->mutex);
    auto& waiting = impl_->waiting;
    const auto at = std::find_if(waiting.begin(), waiting.end(), [&](const auto& entry) { return entry->is(request); });
    if (at == waiting.end()) return false;
    found = std::move(*at);
    waiting.erase(at);
  }
  found->refuse(EndedBy::cancel);
  return true;
}

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
  const std::lock_guard lock(impl_->mutex);
  statistics.waiting = impl_->waiting.size();
  return statistics;
}

}  // namespace tenfold
