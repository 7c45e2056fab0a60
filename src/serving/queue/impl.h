// The state of a RequestQueue: what waits, and the threads that take it.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "queue/recorder.h"
#include "tenfold/serving/request_queue.h"

namespace tenfold::serving_queue {

using Clock = std::chrono::steady_clock;

// A request in the queue: the caller's, with what the queue knows of it. Its end is recorded before the caller hears of it.
class Entry final : public ServedRequest {
 public:
  Entry(std::shared_ptr<ServedRequest> request, Recorder& recorder, bool batched);
  void runs_after(Clock::time_point* last_run) { last_run_ = last_run; }   // when the last run of the entry's thread began
  std::span<const RequestInput> inputs() const override { return request_->inputs(); }
  bool cancelled() const override { return request_->cancelled(); }
  bool requests_output(int output) const override { return request_->requests_output(output); }
  const TextWork* text_work() const override { return request_->text_work(); }
  void* output_memory(int output, std::span<const std::int64_t> shape, std::int64_t bytes) override;
  void take_strings(int output, std::span<const std::int64_t> shape, std::span<const std::string> values) override;
  void finish(const RequestOutcome& outcome) noexcept override;
  void refuse(EndedBy why) noexcept;             // finishes it with the queue's own error

  bool is(const ServedRequest& request) const { return request_.get() == &request; }
  bool fits(const Entry& other) const;           // whether both can be in one batch
  const std::int64_t rows, token_count;
  const Clock::time_point arrival;
  Clock::time_point deadline = Clock::time_point::max();
  int overtaken = 0;                             // by how many batches, for which it had too many tokens

 private:
  std::shared_ptr<ServedRequest> request_;
  Recorder& recorder_;
  Clock::time_point* last_run_ = nullptr;
};
using Entries = std::vector<std::unique_ptr<Entry>>;

// What a free instance is to do with those that wait.
struct Choice {
  std::vector<std::size_t> members, overtaken;   // places in the queue, rising
  std::optional<BatchClosed> closed;             // not set: wait for more, until `until`
  Clock::time_point until;
};
// `waiting` has at least one entry.
Choice choose(const std::deque<std::unique_ptr<Entry>>& waiting, const QueueOptions& options, Clock::time_point now, bool stopping);

}  // namespace tenfold::serving_queue

namespace tenfold {

struct RequestQueue::Impl {
  Impl(std::vector<std::unique_ptr<ServedInstance>> given, QueueOptions given_options);
  void serve(ServedInstance& instance);          // the thread of an instance
  serving_queue::Entries next_batch();           // empty: the queue has stopped
  void watch_deadlines();                        // the thread of timeouts
  serving_queue::Entries take_expired(serving_queue::Clock::time_point now);

  const QueueOptions options;
  serving_queue::Recorder recorder;
  std::vector<std::unique_ptr<ServedInstance>> instances;
  std::mutex mutex;                              // of what follows
  std::condition_variable arrived, deadlines_changed;
  std::deque<std::unique_ptr<serving_queue::Entry>> waiting;
  bool stopping = false;
  std::mutex stop_mutex;                         // one thread joins the others
  std::vector<std::thread> threads;
};

}  // namespace tenfold
