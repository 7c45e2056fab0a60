// Which requests are the next batch.
#include <algorithm>

#include "queue/impl.h"

namespace tenfold::serving_queue {
namespace {

bool same_but_for_rows(const RequestInput& a, const RequestInput& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape.size() == b.shape.size() &&
         (a.shape.empty() || std::equal(a.shape.begin() + 1, a.shape.end(), b.shape.begin() + 1));
}

}  // namespace

bool Entry::fits(const Entry& other) const {
  const auto a = inputs(), b = other.inputs();
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_but_for_rows);
}

Choice choose(const std::deque<std::unique_ptr<Entry>>& waiting, const QueueOptions& options, Clock::time_point now, bool stopping) {
  Choice choice;
  const Entry& oldest = *waiting.front();
  std::int64_t rows = oldest.rows;
  choice.members = {0};
  choice.until = oldest.arrival + options.max_delay;
  bool full = rows >= options.max_batch, other_shape = false;
  std::size_t preferred = 0;   // how many of the members have a preferred size together
  const auto note_preferred = [&] {
    if (std::find(options.preferred_rows.begin(), options.preferred_rows.end(), rows) != options.preferred_rows.end())
      preferred = choice.members.size();
  };
  note_preferred();
  for (std::size_t i = 1; i < waiting.size() && !full; ++i) {
    if (!waiting[i]->fits(oldest)) {
      other_shape = true;
    } else if (rows + waiting[i]->rows > options.max_batch) {
      full = true;   // a smaller one behind it does not overtake it
    } else {
      rows += waiting[i]->rows;
      choice.members.push_back(i);
      full = rows == options.max_batch;
      note_preferred();
    }
  }
  if (full) {
    choice.closed = BatchClosed::full;
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
