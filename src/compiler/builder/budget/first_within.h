// The search for the first of a line of plans, or files, that is within an error budget.
#pragma once

#include <algorithm>
#include <cstddef>

namespace tenfold::builder {

// Of `count` in the order of falling error: the first that is within; `count` if none is, or none before the time is over. It begins with
// `guess` and looks near it, further off with each step, and halves what is left once both sides are known.
template <class Within, class HasTime>
std::size_t first_within(std::size_t count, std::size_t guess, Within&& within, HasTime&& has_time) {
  std::size_t none = 0, enough = count, step = 1, next = guess;   // so many are not; this one is
  bool below = false, above = false;
  while (none < enough && has_time()) {
    const bool is_within = within(next);
    (is_within ? above : below) = true;
    is_within ? enough = next : none = next + 1;
    if (below && above) next = none + (enough - none) / 2;
    else next = is_within ? next - std::min(step, next - none) : std::min(next + step, count - 1);
    step *= 2;
  }
  return enough;
}

}  // namespace tenfold::builder
