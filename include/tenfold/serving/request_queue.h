// RequestQueue: requests to one model wait here until an instance is free, and those that fit run as one batch.
//
//   RequestQueue queue(std::move(instances), {.max_batch = 8, .max_delay = std::chrono::microseconds(500)});
//   queue.submit(request);                    // request->finish() is called once, in a thread of the queue
//
// Each instance has a thread. A free one takes the oldest request, and with it, in the order of their arrival, those of
// equal types and shapes (but for the batch dim) that fit. It waits for more of them only as `max_delay` permits. Requests
// of other shapes keep their place, and the wait ends when one comes. Priorities, policies, delay and preferred sizes mean
// what they mean in Triton's dynamic_batching. It knows no protocol.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tenfold/serving/duration_histogram.h"
#include "tenfold/serving/served_model.h"

namespace tenfold {

// What becomes of a request whose timeout passes in the queue.
enum class TimeoutAction : std::uint8_t {
  reject,                                        // it ends
  delay,                                         // it runs when no other of its level or a higher one waits that is in time
};

// How requests of one priority level wait.
struct QueuePolicy {
  std::size_t max_requests = 0;                  // of the level that wait; 0: as many as QueueOptions::max_requests
  std::chrono::microseconds default_timeout{0};  // 0: no limit
  TimeoutAction timeout_action = TimeoutAction::reject;
  bool allow_timeout_override = true;            // a request may have a shorter timeout of its own
};

struct QueueOptions {
  std::int64_t max_batch = 0;                    // that of the model; 0: each request is a run of its own
  // Of all requests in a batch, by ServedRequest::tokens(); one that has more by itself runs alone. Shorter requests overtake those that a
  // batch has no room for, but each is overtaken by two batches at most. 0: any number
  std::int64_t max_tokens = 0;
  // Batches are of the largest of these sizes that the requests make, until the oldest of them has waited for `max_delay`.
  std::vector<std::int64_t> preferred_rows;
  std::chrono::microseconds max_delay{0};        // how long the oldest request of a batch may wait for others; 0: not at all
  std::size_t max_requests = 1024;               // that wait, of all levels; one more is refused. 0: any number
  // The policy of requests of levels without one in `level_policies`, as QueuePolicy has it.
  std::chrono::microseconds default_timeout{0};
  TimeoutAction timeout_action = TimeoutAction::reject;
  bool allow_timeout_override = true;
  // Requests of level 1 run first, then those of level 2, up to this one; 0: there are no levels.
  std::uint32_t priority_levels = 0;
  std::uint32_t default_priority = 0;            // the level of requests that name none: one of the levels, if there are any
  std::map<std::uint32_t, QueuePolicy> level_policies;
  // Runs finish their requests in the order of arrival, also where several instances run. One that ends before a run ends at once.
  bool preserve_ordering = false;
  DurationBounds histogram_bounds;               // of QueueStatistics::histograms
};

// Why a batch took no more requests.
enum class BatchClosed : std::uint8_t {
  full,                                          // the largest batch, or the next request does not fit into it
  preferred,                                     // a preferred size
  delay,                                         // the oldest request had waited for as long as it may
  idle,                                          // no other request waited
  shape,                                         // requests that wait have other shapes
  tokens,                                        // the most tokens, or those that wait do not fit into what is left of them
};
inline constexpr std::size_t kBatchClosedReasons = 6;
TENFOLD_API std::string_view name(BatchClosed reason);

struct DurationSum {
  std::uint64_t count = 0, ns = 0;
};
struct BatchSizeStatistics {
  DurationSum compute_input, compute_infer, compute_output;
};
// Since the queue was made. success.count + failed + rejected + cancelled are the requests that have finished.
struct QueueStatistics {
  std::uint64_t received = 0;
  std::uint64_t failed = 0;                      // the run failed, or the model refused the request
  std::uint64_t rejected = 0;                    // the queue was full or stopped, or the request's timeout passed
  std::uint64_t cancelled = 0;
  DurationSum success, failure;                  // from submit() to finish(); failure: of whatever kind
  DurationSum queue, compute_input, compute_infer, compute_output;   // of requests that succeeded
  DurationSum cache_hit, cache_miss;             // of note_cache_hit(), note_cache_miss(): how long they looked
  RequestHistograms histograms;
  std::uint64_t inferences = 0, executions = 0;  // rows and runs that succeeded
  std::map<std::int64_t, BatchSizeStatistics> batches;   // by rows
  std::array<std::uint64_t, kBatchClosedReasons> closed{};   // by BatchClosed
  std::uint64_t waiting = 0;                     // now
  std::int64_t memory_bytes = 0;                 // that the instances held after their last runs
  std::chrono::system_clock::time_point last_inference{};
};

class TENFOLD_API RequestQueue {
 public:
  // Throws invalid_argument for a default priority, or a level with a policy, that is none of the levels, and for bounds of histograms
  // that do not rise, or are not above 0.
  RequestQueue(std::vector<std::unique_ptr<ServedInstance>> instances, QueueOptions options);
  ~RequestQueue();                               // stop()
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  // Takes the request, whose inputs must not change from now on. One that is refused is finished before this returns. It waits no longer
  // than `timeout`, where the policy lets it have one, or the policy's where that is shorter or `timeout` is 0. The timeout acts when it
  // is due, also while all instances are busy. One that runs already is not ended. `priority` is a level, 0: the default one.
  // A level above `priority_levels` is taken as the lowest.
  void submit(std::shared_ptr<ServedRequest> request, std::chrono::microseconds timeout = {}, std::uint32_t priority = 0);
  // Several requests of one caller, in their order, which are accepted or refused together. They are refused where one alone would be: if
  // the queue is full when they come.
  void submit(std::span<const std::shared_ptr<ServedRequest>> requests, std::chrono::microseconds timeout = {});
  // Ends the request if it still waits: RequestOutcome::ended_by is `cancel`. Whether it did.
  bool cancel(const ServedRequest& request) noexcept;
  // The caller has answered a request by itself, out of a cache: it was received at `arrival` and succeeds now. It looked from `start` on.
  void note_cache_hit(std::chrono::steady_clock::time_point arrival, std::chrono::steady_clock::time_point start) noexcept;
  // The caller has looked into a cache for so long, in vain.
  void note_cache_miss(std::chrono::nanoseconds looked) noexcept;
  // Refuses new requests, and returns when those accepted have finished.
  void stop() noexcept;
  QueueStatistics statistics() const;

 private:
  struct TENFOLD_NOT_EXPORTED Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold
