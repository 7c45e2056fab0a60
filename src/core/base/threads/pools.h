// Pools: workers for several callers at once, of one size no more than there are processors.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/threads/parallel.h"

namespace tenfold {

class Pools {
 public:
  explicit Pools(int processors) : processors_(processors) {}
  // Workers for one more caller, until it lets go: a pool that nobody has, a new one while there are processors for it, else the one that
  // the fewest have. A caller that finds its pool busy does all its parts by itself. threads: 0 takes all processors.
  std::shared_ptr<Parallel> take(int threads);

 private:
  const int processors_;
  std::mutex mutex_;
  std::map<int, std::vector<std::shared_ptr<Parallel>>> of_threads_;
};

}  // namespace tenfold
