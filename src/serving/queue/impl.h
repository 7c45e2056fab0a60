// The state of a RequestQueue: what waits, and the threads that take it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "queue/waiting.h"

namespace tenfold::serving_queue {

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
  // Acts on the timeouts that are due. It lets go of the lock while requests hear of their ends.
  void expire(std::unique_lock<std::mutex>& lock, serving_queue::Clock::time_point now);
  EndedBy accept(serving_queue::Entries& entries);   // `run`: they were taken, all of them
  void submit(std::span<const std::shared_ptr<ServedRequest>> requests, std::chrono::microseconds timeout, std::uint32_t priority);

  const QueueOptions options;
  serving_queue::Recorder recorder;
  serving_queue::Order order;
  std::atomic<std::int64_t> memory_bytes = 0;    // of all instances
  std::vector<std::unique_ptr<ServedInstance>> instances;
  std::mutex mutex;                              // of what follows
  std::condition_variable arrived, deadlines_changed;
  serving_queue::Waiting waiting;
  serving_queue::Clock::time_point watched = serving_queue::Clock::time_point::max();   // the deadline that the thread of timeouts awaits
  bool stopping = false;
  std::mutex stop_mutex;                         // one thread joins the others
  std::vector<std::thread> threads;
};

}  // namespace tenfold
