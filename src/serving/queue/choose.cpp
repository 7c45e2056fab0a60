// Which requests are the next batch.
#include <algorithm>

#include "queue/impl.h"

namespace tenfold::serving_queue {
namespace {

constexpr int kMaxOvertaken = 2;

bool same_but_for_rows(const RequestInput& a, const RequestInput& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape.size() == b.shape.size() &&
         (a.shape.empty() || std::equal(a.shape.begin() + 1, a.shape.end(), b.shape.begin() + 1));
}

}  // namespace

bool Entry::fits(const Entry& other) const {
  if (token_count > 0 && other.token_count > 0) return true;
  const auto a = inputs(), b = other.inputs();
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_but_for_rows);
}

Choice choose(const std::deque<std::unique_ptr<Entry>>& waiting, const QueueOptions& options, Clock::time_point now, bool stopping) {
  Choice choice;
  const Entry& oldest = *waiting.front();
  std::int64_t rows = oldest.rows, tokens = oldest.token_count;
  choice.members = {0};
  choice.until = oldest.arrival + options.max_delay;
  bool full = rows >= options.max_batch, other_shape = false;
  std::vector<std::size_t> too_long;
  const auto tokens_used = [&] { return options.max_tokens > 0 && tokens >= options.max_tokens; };
  bool no_tokens = tokens_used();
  std::size_t preferred = 0;   // how many of the members have a preferred size together
  const auto note_preferred = [&] {
    if (std::find(options.preferred_rows.begin(), options.preferred_rows.end(), rows) != options.preferred_rows.end())
      preferred = choice.members.size();
  };
  note_preferred();
  for (std::size_t i = 1; i < waiting.size() && !full && !no_tokens; ++i) {
    if (options.max_tokens > 0 && tokens + waiting[i]->token_count > options.max_tokens) {
      too_long.push_back(i);
      no_tokens = waiting[i]->overtaken >= kMaxOvertaken;   // those behind it wait with it
    } else if (!waiting[i]->fits(oldest)) {
      other_shape = true;
    } else if (rows + waiting[i]->rows > options.max_batch) {
      full = true;   // a smaller one behind it does not overtake it
    } else {
      rows += waiting[i]->rows, tokens += waiting[i]->token_count;
      choice.members.push_back(i);
      full = rows == options.max_batch, no_tokens = tokens_used();
      note_preferred();
    }
  }
  for (const std::size_t i : too_long)
    if (i < choice.members.back()) choice.overtaken.push_back(i);
  if (full) {
    choice.closed = BatchClosed::full;
  } else if (no_tokens || !too_long.empty()) {
    choice.closed = BatchClosed::tokens;
  } else if (preferred > 0) {
    choice.members.resize(preferred);
    choice.closed = BatchClosed::preferred;
  } else if (other_shape) {
    choice.closed = BatchClosed::shape;
  } else if (options.max_delay.count() == 0 || stopping) {
    choice.closed = BatchClosed::idle;
  } else if (now >= choice.until) {
    choice.closed = BatchClosed::delay;
  }
  return choice;
}

}  // namespace tenfold::serving_queue
