#include "queue/entry.h"

#include <algorithm>
#include <optional>

namespace tenfold::serving_queue {
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

bool same_but_for_rows(const RequestInput& a, const RequestInput& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape.size() == b.shape.size() &&
         (a.shape.empty() || std::equal(a.shape.begin() + 1, a.shape.end(), b.shape.begin() + 1, b.shape.end()));
}

}  // namespace

Entry::Entry(std::shared_ptr<ServedRequest> request, Recorder& recorder, bool batched)
    : rows(rows_of(*request, batched)), token_count(request->tokens()), arrival(Clock::now()), request_(std::move(request)),
      recorder_(recorder) {}

bool Entry::fits(const Entry& other) const {
  if (token_count > 0 && other.token_count > 0) return true;
  const auto a = inputs(), b = other.inputs();
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_but_for_rows);
}

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
  if (order_ && outcome.ended_by == EndedBy::run) return finish_in_order(outcome);
  recorder_.finished(outcome, arrival);
  request_->finish(outcome);
  if (order_) order_->end(number_, nullptr);
}

// The entry, the error and the run are gone when the request hears of its end.
void Entry::finish_in_order(const RequestOutcome& outcome) noexcept {
  const auto error = outcome.error ? std::optional(*outcome.error) : std::nullopt;
  const auto run = outcome.run ? std::optional(*outcome.run) : std::nullopt;
  order_->end(number_, [request = std::move(request_), &recorder = recorder_, arrived = arrival, error, run] {
    const RequestOutcome held{error ? &*error : nullptr, run ? &*run : nullptr, EndedBy::run};
    recorder.finished(held, arrived);
    request->finish(held);
  });
}

void Entry::refuse(EndedBy why) noexcept {
  const Error error(ErrorKind::cancelled, std::string(words(why)));
  finish({&error, nullptr, why});
}

}  // namespace tenfold::serving_queue
