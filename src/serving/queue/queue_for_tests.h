// Queues for tests: requests and instances that are none.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tenfold/serving/request_queue.h"

namespace tenfold::queue_tests {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A gate that instances wait at, so that tests decide what has queued before a batch is made.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void wait_for_arrival() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int arrived_ = 0;
};

class Request final : public ServedRequest {
 public:
  Request(std::int64_t rows, std::int64_t width, std::int64_t tokens = 0)
      : shape_{rows, width}, inputs_{{"x", DType::f32, shape_, {}, nullptr}}, tokens_(tokens) {}
  std::int64_t tokens() const override { return tokens_; }
  std::span<const RequestInput> inputs() const override { return inputs_; }
  void* output_memory(int, std::span<const std::int64_t>, std::int64_t) override { return nullptr; }
  void take_strings(int, std::span<const std::int64_t>, std::span<const std::string>) override {}
  void finish(const RequestOutcome& outcome) noexcept override {
    const std::lock_guard lock(mutex_);
    ++times_, ended_by_ = outcome.ended_by, failed_ = outcome.error != nullptr, when_ = Clock::now();
    if (outcome.run) rows_of_batch_ = outcome.run->rows;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return times_ > 0; });
  }
  int times() {
    const std::lock_guard lock(mutex_);
    return times_;
  }
  std::int64_t rows() const { return shape_[0]; }

  EndedBy ended_by_ = EndedBy::run;
  bool failed_ = false;
  std::int64_t rows_of_batch_ = 0;
  Clock::time_point when_;

 private:
  std::vector<std::int64_t> shape_;
  std::vector<RequestInput> inputs_;
  std::int64_t tokens_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int times_ = 0;
};

class Instance final : public ServedInstance {
 public:
  Instance(Gate* gate, ErrorKind* failure) : gate_(gate), failure_(failure) {}
  const std::string& device() const noexcept override { return device_; }
  std::int64_t memory_bytes() const noexcept override { return 0; }
  void run(std::span<ServedRequest* const> requests, std::vector<BatchRun>*) noexcept override {
    BatchRun run{static_cast<int>(requests.size()), 0, Clock::now(), {}, {}, {}};
    if (gate_) gate_->pass();
    for (const ServedRequest* request : requests) run.rows += request->inputs()[0].shape[0];
    run.compute_start = run.compute_end = run.end = Clock::now();
    for (ServedRequest* request : requests) {
      const Error error(failure_ ? *failure_ : ErrorKind::internal, "it failed");
      request->finish({failure_ ? &error : nullptr, failure_ ? nullptr : &run});
    }
  }

 private:
  std::string device_ = "cpu";
  Gate* gate_;
  ErrorKind* failure_;
};

inline std::vector<std::unique_ptr<ServedInstance>> instances(int count, Gate* gate = nullptr, ErrorKind* failure = nullptr) {
  std::vector<std::unique_ptr<ServedInstance>> made;
  for (int i = 0; i < count; ++i) made.push_back(std::make_unique<Instance>(gate, failure));
  return made;
}

inline std::shared_ptr<Request> submit(RequestQueue& queue, std::int64_t rows = 1, std::int64_t width = 4,
                                std::chrono::microseconds timeout = {}, std::uint32_t priority = 0) {
  const auto request = std::make_shared<Request>(rows, width);
  queue.submit(request, timeout, priority);
  return request;
}
inline std::shared_ptr<Request> submit_text(RequestQueue& queue, std::int64_t tokens) {
  const auto request = std::make_shared<Request>(1, 1 + tokens, tokens);   // of any shapes
  queue.submit(request);
  return request;
}
inline std::uint64_t closed(const RequestQueue& queue, BatchClosed reason) {
  return queue.statistics().closed[static_cast<std::size_t>(reason)];
}

// One request is at the gate, and what the test submits queues behind it.
class Behind {
 public:
  Behind(QueueOptions options) : queue(instances(1, &gate), options) {
    first = submit(queue, std::max<std::int64_t>(options.max_batch, 1), 9);   // a full batch, which waits for no other
    gate.wait_for_arrival();
  }
  ~Behind() { gate.open(); }   // or the queue would not stop
  Gate gate;
  RequestQueue queue;
  std::shared_ptr<Request> first;
};

inline std::vector<std::int64_t> batches_of(const std::vector<std::shared_ptr<Request>>& requests) {
  std::vector<std::int64_t> rows;
  for (const auto& request : requests) request->wait(), rows.push_back(request->rows_of_batch_);
  return rows;
}

}  // namespace tenfold::queue_tests
