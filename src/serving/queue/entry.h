// A request in the queue: the caller's, with what the queue knows of it.
#pragma once

#include "queue/order.h"
#include "queue/recorder.h"
#include "tenfold/serving/request_queue.h"

namespace tenfold::serving_queue {

using Clock = std::chrono::steady_clock;

// Its end is recorded before the caller hears of it.
class Entry final : public ServedRequest {
 public:
  Entry(std::shared_ptr<ServedRequest> request, Recorder& recorder, bool batched);
  void runs_after(Clock::time_point* last_run) { last_run_ = last_run; }   // when the last run of the entry's thread began
  void enter(Order& order) { order_ = &order, number_ = order.enter(); }   // from now on it must be finished
  std::span<const RequestInput> inputs() const override { return request_->inputs(); }
  bool cancelled() const override { return request_->cancelled(); }
  CancelToken cancel_token() const override { return request_->cancel_token(); }
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
  std::uint32_t level = 0;
  int overtaken = 0;                             // by how many batches, for which it had too many tokens
  bool late = false;                             // its timeout has passed, and it runs behind the others

 private:
  void finish_in_order(const RequestOutcome& outcome) noexcept;

  std::shared_ptr<ServedRequest> request_;
  Recorder& recorder_;
  Clock::time_point* last_run_ = nullptr;
  Order* order_ = nullptr;                       // null: requests finish as their runs do
  std::uint64_t number_ = 0;
};
using Entries = std::vector<std::unique_ptr<Entry>>;

}  // namespace tenfold::serving_queue
