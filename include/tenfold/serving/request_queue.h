// RequestQueue: requests to one model wait here until an instance is free, and those that fit run as one batch.
//
//   RequestQueue queue(std::move(instances), {.max_batch = 8, .max_delay = std::chrono::microseconds(500)});
//   queue.submit(request);                    // request->finish() is called once, in a thread of the queue
//
// Each instance has a thread. A free one takes the oldest request, and with it, in the order of their arrival, those of
// equal types and shapes (but for the batch dim) that fit. It waits for more of them only as `max_delay` permits. Requests
// of other shapes keep their place, and the wait ends when one comes. It knows no protocol.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tenfold/serving/served_model.h"

namespace tenfold {

struct QueueOptions {
  std::int64_t max_batch = 0;                    // that of the model; 0: each request is a run of its own
  // Of all requests in a batch, by ServedRequest::tokens(); one that has more by itself runs alone. Shorter requests overtake those that a
  // batch has no room for, but each is overtaken by two batches at most. 0: any number
  std::int64_t max_tokens = 0;
  std::vector<std::int64_t> preferred_rows;      // batches of these sizes do not wait for more requests
  std::chrono::microseconds max_delay{0};        // how long the oldest request of a batch may wait for others; 0: not at all
  std::size_t max_requests = 1024;               // that wait; one more is refused. 0: any number
  std::chrono::microseconds default_timeout{0};  // of waiting, for requests that have none of their own; 0: no limit
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
  std::uint64_t inferences = 0, executions = 0;  // rows and runs that succeeded
  std::map<std::int64_t, BatchSizeStatistics> batches;   // by rows
  std::array<std::uint64_t, kBatchClosedReasons> closed{};   // by BatchClosed
  std::uint64_t waiting = 0;                     // now
  std::chrono::system_clock::time_point last_inference{};
};

class TENFOLD_API RequestQueue {
 public:
  RequestQueue(std::vector<std::unique_ptr<ServedInstance>> instances, QueueOptions options);
  ~RequestQueue();                               // stop()
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  // Takes the request, whose inputs must not change from now on. One that is refused is finished before this returns. It waits no longer
  // than `timeout`, or `default_timeout` where that is shorter or `timeout` is 0. The timeout ends a request when it is due, also
  // while all instances are busy. One that runs already is not ended.
  void submit(std::shared_ptr<ServedRequest> request, std::chrono::microseconds timeout = {});
  // Several requests of one caller, in their order, which are accepted or refused together. They are refused where one alone would be: if
  // the queue is full when they come.
  void submit(std::span<const std::shared_ptr<ServedRequest>> requests, std::chrono::microseconds timeout = {});
  // Ends the request if it still waits: RequestOutcome::ended_by is `cancel`. Whether it did.
  bool cancel(const ServedRequest& request) noexcept;
  // Refuses new requests, and returns when those accepted have finished.
  void stop() noexcept;
  QueueStatistics statistics() const;

 private:
  struct TENFOLD_NOT_EXPORTED Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold
