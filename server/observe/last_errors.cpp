#include "observe/last_errors.h"

#include <algorithm>

namespace tenfold::server {

void LastErrors::add(std::string_view message) noexcept {
  if (message.empty()) return;
  message = message.substr(0, kLength);
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;  // a storm of them: others tell enough
  const auto now = std::chrono::system_clock::now();
  const auto same = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.message == message; });
  if (same != rows_.end()) {
    ++same->count, same->last = now;
    std::rotate(rows_.begin(), same, same + 1);
    return;
  }
  try {
    rows_.push_front({std::string(message), 1, now});
    if (rows_.size() > kRows) rows_.pop_back();
  } catch (const std::bad_alloc&) {  // it is told elsewhere
  }
}

std::vector<LastErrors::Row> LastErrors::get() const {
  const std::lock_guard lock(mutex_);
  return {rows_.begin(), rows_.end()};
}

}  // namespace tenfold::server
