// What is done between two answers: what does not depend on the newest row of the next window, and runs that keep warm.
#include <algorithm>

#include "low_latency/runner/runner.h"

namespace tenfold {

using low_latency::ReadyContext;
using low_latency::CandidateSet;

namespace {

constexpr int kMaxWrong = 4;   // expectations that come to nothing, before there are no more

ReadyContext* first(const CandidateSet& set) noexcept {
  const std::size_t i = set.next(0);
  return i < set.candidates.size() ? set.candidates[i]->context.get() : nullptr;
}

}  // namespace

void LatencyRunner::State::before_rows(const ReadyContext& context, const std::byte* input, Answer& answer) noexcept {
  rows.early = context.is_early();
  const bool looks = !rows.early && (rows.expected || rows.wrong > 0), follows = looks && context.follows(input);
  answer.late_start |= answer.due_ns < rows.ready_ns || (rows.expected && follows);
  if (follows) rows.wrong = 0;
  rows.expected = false;
}

void LatencyRunner::State::after_rows(const ReadyContext& context, Answer& answer) noexcept {
  answer.full_recompute = context.was_whole();
  if (rows.early) rows.wrong = answer.full_recompute ? std::min(rows.wrong + 1, kMaxWrong) : 0;
  rows.last = &context;
}

Status LatencyRunner::State::precompute(const std::byte* next_window) noexcept {
  CandidateSet& set = enter();
  Status status;
  ReadyContext* const context = first(set);
  if (context && context->has_precomputed()) {
    status = context->precompute(next_window);
    rows.ready_ns = low_latency::now_ns();
  }
  in_use.store(nullptr, std::memory_order_release);
  return status;
}

void LatencyRunner::State::expect_next() noexcept {
  CandidateSet& set = enter();
  const ReadyContext* const context = first(set);
  rows.expected = context && context->has_precomputed() && context->can_move() && context == rows.last && rows.wrong < kMaxWrong;
  in_use.store(nullptr, std::memory_order_release);
}

bool LatencyRunner::State::precompute_next() noexcept {
  if (!rows.expected) return false;
  rows.expected = false;
  CandidateSet& set = enter();
  if (ReadyContext* const context = first(set); context && context == rows.last) {
    context->precompute_next();   // where it fails, the window is computed as a whole
    rows.ready_ns = low_latency::now_ns();
  }
  in_use.store(nullptr, std::memory_order_release);
  return true;
}

void LatencyRunner::State::keep_warm() noexcept {
  CandidateSet& set = enter();
  if (ReadyContext* const context = first(set)) {
    if (context->is_early()) context->precompute_again();   // a sample would take the place of the rows
    else context->run(set.sample_input.data(), set.unread_output.data(), nullptr);
  }
  in_use.store(nullptr, std::memory_order_release);
}

}  // namespace tenfold
