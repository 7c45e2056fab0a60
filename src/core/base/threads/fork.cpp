// Counting forks: a handler of the C library, registered once.
#include "base/threads/fork.h"

#include <pthread.h>

#include <mutex>

namespace tenfold {

void count_forks() noexcept {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { forks_counted.fetch_add(1, std::memory_order_relaxed); }); });
}

}  // namespace tenfold
