// The hot path: one request is answered by the first candidate that can. Nothing here allocates, locks, or asks the system
// for anything but the time.
#include "low_latency/runner/runner.h"

namespace tenfold {

using low_latency::OpenCandidate;
using low_latency::CandidateSet;
using low_latency::Use;

CandidateSet& LatencyRunner::State::enter() noexcept {
  CandidateSet* set = requested.load(std::memory_order_seq_cst);
  while (true) {
    in_use.store(set, std::memory_order_seq_cst);
    CandidateSet* const again = requested.load(std::memory_order_seq_cst);
    if (again == set) return *set;
    set = again;
  }
}

void LatencyRunner::State::leave(OpenCandidate& candidate, Status::Code why, std::int64_t took_ns) noexcept {
  candidate.left_for.store(why, std::memory_order_relaxed);
  candidate.left_after_ns.store(took_ns, std::memory_order_relaxed);
  candidate.left.fetch_add(1, std::memory_order_relaxed);
  candidate.use.store(Use::left, std::memory_order_release);
}

namespace {

// A request that no engine could answer leaves its candidate in place.
bool is_the_requests_fault(Status::Code code) {
  return code == Status::invalid_input || code == Status::bad_index || code == Status::too_large || code == Status::invalid_shape ||
         code == Status::invalid_binding;
}
// Another request may be answered: a context is ready when it opens, so what it has no memory for are sizes that the data give.
bool is_of_this_request(Status::Code code) { return is_the_requests_fault(code) || code == Status::out_of_memory; }

// Where all were left, the last one that opened goes on.
std::size_t last_resort(const CandidateSet& set, bool strict) noexcept {
  for (std::size_t i = strict ? 1 : set.candidates.size(); i-- > 0;)
    if (set.candidates[i]->context) return i;
  return 0;
}

}  // namespace

Status LatencyRunner::State::run_candidates(CandidateSet& set, const std::byte* input, std::byte* output, Answer& answer) noexcept {
  const std::size_t count = options.strict ? 1 : set.candidates.size();
  std::size_t i = set.next(0);
  if (i >= count) i = last_resort(set, options.strict);
  bool fell = false;
  for (std::int64_t start = answer.started_ns;; fell = true) {
    OpenCandidate& candidate = *set.candidates[i];
    const std::size_t other = set.next(i + 1);
    const bool last = other >= count, limited = !last && options.deadline.count() > 0;
    RunOptions run;
    if (candidate.context->has_precomputed()) before_rows(*candidate.context, input, answer);
    if (limited) run.deadline = std::chrono::steady_clock::time_point(std::chrono::nanoseconds(start) + options.deadline);
    const Status status = candidate.context->run(input, output, limited ? &run : nullptr);
    answer.ended_ns = low_latency::now_ns();
    answer.full_recompute = false;
    if (candidate.context->has_precomputed()) after_rows(*candidate.context, answer);
    answer.candidate = static_cast<std::int32_t>(i);
    const std::int64_t took = answer.ended_ns - start;
    if (limited && (status || status.code == Status::deadline) && took > options.deadline.count()) leave(candidate, Status::ok, took);
    else if (!status && !last && !is_of_this_request(status.code)) leave(candidate, status.code, took);
    if (status || last || is_the_requests_fault(status.code)) {
      candidate.answered.fetch_add(1, std::memory_order_relaxed);
      if (fell) counters.fell.fetch_add(1, std::memory_order_relaxed);
      return status;
    }
    start = answer.ended_ns, i = other;
  }
}

Answer LatencyRunner::State::answer(const std::byte* input, std::byte* output, std::int64_t due_ns) noexcept {
  const auto count = [](std::atomic<std::uint64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); };
  Answer answer;
  answer.started_ns = answer.ended_ns = low_latency::now_ns();
  answer.due_ns = due_ns != 0 ? due_ns : answer.started_ns;
  rows.last = nullptr;
  CandidateSet& set = enter();
  const bool fails = options.not_finite == NotFinite::fail;
  answer.not_finite = !low_latency::all_finite(set.layout.inputs, input);
  if (answer.not_finite && fails) answer.status = {Status::failed, -1};
  else answer.status = run_candidates(set, input, output, answer);
  if (answer.status && !answer.not_finite && !low_latency::all_finite(set.layout.outputs, output)) {
    answer.not_finite = true;
    if (fails) answer.status = {Status::failed, -1};
  }
  in_use.store(nullptr, std::memory_order_release);
  answer.late = options.deadline.count() > 0 && answer.due_ns < answer.ended_ns - options.deadline.count();   // due at any number
  count(counters.answered);
  if (answer.late) count(counters.late);
  if (answer.not_finite) count(counters.not_finite);
  if (!answer.status) count(counters.failed);
  if (answer.late_start) count(counters.late_start);
  if (answer.full_recompute) count(counters.full_recompute);
  rows.ready_ns = answer.ended_ns;
  return answer;
}

}  // namespace tenfold
