// Which requests are the next batch.
#include <algorithm>

#include "queue/impl.h"

namespace tenfold::serving_queue {
namespace {

constexpr int kMaxOvertaken = 2;

// The requests that the oldest one could run with, and the batch among them that is preferred.
struct Candidates {
  std::vector<std::size_t> members, too_long;    // too_long: they have more tokens than are left
  std::size_t preferred = 0;                     // how many of the members make a preferred batch; 0: none do
  bool full = false, other_shape = false, preferred_full = false, no_tokens = false;
  Clock::time_point oldest = Clock::time_point::max();
};

// As Triton: of preferred sizes the largest that the requests make is taken, and where they make none, none exceeds the largest.
Candidates candidates(const std::deque<std::unique_ptr<Entry>>& waiting, const QueueOptions& options) {
  Candidates found;
  const std::vector<std::int64_t>& sizes = options.preferred_rows;
  const std::int64_t largest = sizes.empty() ? options.max_batch : *std::max_element(sizes.begin(), sizes.end());
  std::int64_t rows = 0, tokens = 0;
  for (std::size_t i = 0; i < waiting.size() && !found.full && !found.no_tokens; ++i) {
    const Entry& entry = *waiting[i];
    if (i > 0 && options.max_tokens > 0 && tokens + entry.token_count > options.max_tokens) {
      found.too_long.push_back(i);
      found.no_tokens = entry.overtaken >= kMaxOvertaken;   // those behind it wait with it
      continue;
    }
    if (i > 0 && !entry.fits(*waiting.front())) {
      found.other_shape = true;
      continue;
    }
    if (i > 0 && !sizes.empty() && found.preferred == 0 && rows + entry.rows > largest)
      found.preferred = found.members.size(), found.preferred_full = true;
    if (i > 0 && rows + entry.rows > options.max_batch) {
      found.full = true;   // a smaller one behind it does not overtake it
      break;
    }
    rows += entry.rows, tokens += entry.token_count;
    found.members.push_back(i);
    found.oldest = std::min(found.oldest, entry.arrival);
    if (std::find(sizes.begin(), sizes.end(), rows) != sizes.end()) found.preferred = found.members.size(), found.preferred_full = false;
    found.full = rows >= options.max_batch;
    found.no_tokens = options.max_tokens > 0 && tokens >= options.max_tokens;
  }
  return found;
}

}  // namespace

Choice choose(const std::deque<std::unique_ptr<Entry>>& waiting, const QueueOptions& options, Clock::time_point now, bool stopping) {
  Candidates found = candidates(waiting, options);
  Choice choice;
  choice.members = std::move(found.members);
  choice.until = found.oldest + options.max_delay;
  const bool may_wait = options.max_delay.count() > 0, waited = may_wait && now >= choice.until;
  if (found.preferred > 0 && !waited) {
    choice.members.resize(found.preferred);
    choice.closed = found.preferred_full ? BatchClosed::full : BatchClosed::preferred;
  } else if (found.full) {
    choice.closed = BatchClosed::full;
  } else if (found.no_tokens || !found.too_long.empty()) {
    choice.closed = BatchClosed::tokens;
  } else if (waited) {
    choice.closed = BatchClosed::delay;
  } else if (found.other_shape) {
    choice.closed = BatchClosed::shape;
  } else if (!may_wait || stopping) {
    choice.closed = BatchClosed::idle;
  }
  for (const std::size_t i : found.too_long)
    if (i < choice.members.back()) choice.overtaken.push_back(i);
  return choice;
}

}  // namespace tenfold::serving_queue
