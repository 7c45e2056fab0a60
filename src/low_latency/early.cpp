// What is done between two answers: what does not depend on the newest row of the next window, and runs that keep warm.
#include <algorithm>

#include "low_latency/runner.h"

namespace tenfold {

using low_latency::ReadyContext;
using low_latency::RungSet;

namespace {

constexpr int kMostWrong = 4;   // expectations that come to nothing, before there are no more

ReadyContext* first(const RungSet& set) noexcept {
  const std::size_t i = set.next(0);
  return i < set.rungs.size() ? set.rungs[i]->context.get() : nullptr;
}

}  // namespace

void Runner::State::before_rows(const ReadyContext& context, const std::byte* input, Answer& answer) noexcept {
  rows.early = context.is_early();
  const bool looks = !rows.early && (rows.expected || rows.wrong > 0), follows = looks && context.follows(input);
  answer.behind |= answer.due_ns < rows.ready_ns || (rows.expected && follows);
  if (follows) rows.wrong = 0;
  rows.expected = false;
}

void Runner::State::after_rows(const ReadyContext& context, Answer& answer) noexcept {
  answer.whole = context.was_whole();
  if (rows.early) rows.wrong = answer.whole ? std::min(rows.wrong + 1, kMostWrong) : 0;
  rows.last = &context;
}

Status Runner::State::run_early(const std::byte* next_window) noexcept {
  RungSet& set = enter();
  Status status;
  ReadyContext* const context = first(set);
  if (context && context->has_early()) {
    status = context->run_early(next_window);
    rows.ready_ns = low_latency::now_ns();
  }
  in_use.store(nullptr, std::memory_order_release);
  return status;
}

void Runner::State::expect_next() noexcept {
  RungSet& set = enter();
  const ReadyContext* const context = first(set);
  rows.expected = context && context->has_early() && context->can_move() && context == rows.last && rows.wrong < kMostWrong;
  in_use.store(nullptr, std::memory_order_release);
}

bool Runner::State::run_early_of_next() noexcept {
  if (!rows.expected) return false;
  rows.expected = false;
  RungSet& set = enter();
  if (ReadyContext* const context = first(set); context && context == rows.last) {
    context->run_early_of_next();   // where it fails, the window is computed as a whole
    rows.ready_ns = low_latency::now_ns();
  }
  in_use.store(nullptr, std::memory_order_release);
  return true;
}

void Runner::State::keep_warm() noexcept {
  RungSet& set = enter();
  if (ReadyContext* const context = first(set)) {
    if (context->is_early()) context->run_early_again();   // a sample would take the place of the rows
    else context->run(set.sample_input.data(), set.unread_output.data(), nullptr);
  }
  in_use.store(nullptr, std::memory_order_release);
}

}  // namespace tenfold
