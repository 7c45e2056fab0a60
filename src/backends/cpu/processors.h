// Processors: which CPUs the pinned streams of a process have. Each gets those that fewest others have, and gives them back.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace tenfold::backends::cpu {

class Processors {
 public:
  // `order`: CPU numbers, the ones to give out first in front.
  explicit Processors(std::vector<int> order) : order_(std::move(order)), users_(order_.size()) {}

  using Lease = std::shared_ptr<const std::vector<int>>;
  // As many CPUs as asked for, some of them twice if there are fewer; given back when the last copy of the lease goes, for which this
  // must still be there. Empty if there are none.
  Lease take(std::size_t count);

 private:
  std::size_t freest() const;

  std::mutex mutex_;
  const std::vector<int> order_;
  std::vector<int> users_;   // of each
};

}  // namespace tenfold::backends::cpu
