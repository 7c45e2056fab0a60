#include "base/threads/pools.h"

#include <algorithm>

#include "base/threads/thread_pool.h"

namespace tenfold {

std::shared_ptr<Parallel> Pools::take(int threads) {
  const std::lock_guard lock(mutex_);
  const int size = threads > 0 ? threads : processors_;
  std::vector<std::shared_ptr<Parallel>>& pools = of_threads_[size];
  const auto fewest =
      std::min_element(pools.begin(), pools.end(), [](const auto& a, const auto& b) { return a.use_count() < b.use_count(); });
  const bool room = (static_cast<int>(pools.size()) + 1) * size <= processors_;
  if (fewest != pools.end() && (fewest->use_count() == 1 || !room || size == 1)) return *fewest;
  if (size == 1) return pools.emplace_back(std::make_shared<Serial>());   // it has no state: one does for all
  return pools.emplace_back(std::make_shared<ThreadPool>(ThreadPoolOptions{.threads = size}));
}

}  // namespace tenfold
