// Placing a crowd of buffers in one walk over the steps, as an allocator would that knows every lifetime.
#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>

#include "base/checked.h"
#include "memory/by_birth.h"

namespace tenfold::memory {
namespace {

// Bytes below the highest buffer so far that nothing living occupies.
class Gaps {
 public:
  // The start of a range of `size` bytes: in the smallest gap that holds it, else at the top.
  std::int64_t take(std::int64_t size, std::int64_t alignment) {
    for (auto it = by_size_.lower_bound({size, 0}); it != by_size_.end(); ++it) {
      const auto [first, end] = *by_start_.find(it->second);
      const std::int64_t start = round_up(first, alignment);
      if (end - start < size) continue;
      erase(first);
      add(first, start);
      add(start + size, end);
      return start;
    }
    std::int64_t first = top_;
    if (!by_start_.empty() && by_start_.rbegin()->second == top_) {   // the last gap reaches up to the top
      first = by_start_.rbegin()->first;
      erase(first);
    }
    const std::int64_t start = round_up(first, alignment);
    add(first, start);
    top_ = checked_add(start, size);
    return start;
  }
  void release(std::int64_t first, std::int64_t end) {
    auto next = by_start_.lower_bound(first);
    if (next != by_start_.end() && next->first == end) {
      end = next->second;
      erase(next->first);
    }
    next = by_start_.lower_bound(first);
    if (next != by_start_.begin() && std::prev(next)->second == first) {
      first = std::prev(next)->first;
      erase(first);
    }
    add(first, end);
  }
  std::int64_t top() const { return top_; }

 private:
  void add(std::int64_t first, std::int64_t end) {
    if (first == end) return;
    by_start_[first] = end;
    by_size_.emplace(end - first, first);
  }
  void erase(std::int64_t first) {
    const auto it = by_start_.find(first);
    by_size_.erase({it->second - first, first});
    by_start_.erase(it);
  }
  std::map<std::int64_t, std::int64_t> by_start_;             // start -> end
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;   // size, start
  std::int64_t top_ = 0;
};

}  // namespace

Solution by_birth(const Problem& problem) {
  const std::vector<Buffer>& buffers = problem.buffers;
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(buffers[a].first, -buffers[a].size) < std::pair(buffers[b].first, -buffers[b].size);
  });
  Solution solution{std::vector<std::int64_t>(buffers.size(), 0), 0};
  std::priority_queue<std::pair<std::int32_t, std::size_t>, std::vector<std::pair<std::int32_t, std::size_t>>, std::greater<>> living;
  Gaps gaps;
  for (std::size_t i : order) {
    const Buffer& buffer = buffers[i];
    for (; !living.empty() && living.top().first < buffer.first; living.pop()) {
      const std::size_t dead = living.top().second;
      gaps.release(solution.offsets[dead], solution.offsets[dead] + buffers[dead].size);
    }
    if (buffer.size == 0) continue;
    solution.offsets[i] = gaps.take(buffer.size, buffer.alignment);
    living.emplace(buffer.last, i);
  }
  solution.height = gaps.top();
  return solution;
}

}  // namespace tenfold::memory
