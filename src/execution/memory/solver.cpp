// The arena solver: buffers are placed one by one at the lowest place that is free; all the art is in their order.
//
// A few greedy orders come first. If none reaches the lower bound, a small problem is searched through; for a large one the best
// order is improved by bringing forward what stands on top (iterated greedy). Effort is counted, not timed. Where so many buffers live
// together that their pairs cannot be listed, one walk in order of birth has to do (by_birth.h).
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked.h"
#include "memory/by_birth.h"
#include "memory/problem.h"

namespace tenfold::memory {
namespace {

using Order = std::vector<int>;
constexpr std::int64_t kImproveEffort = 3'000'000;   // neighbors looked at: about 0.2 s
constexpr std::int64_t kSearchNodes = 1'000'000;
constexpr int kExactBuffers = 10;
constexpr std::int64_t kMaxPairs = 2'000'000;       // of buffers that live together

class Solver {
 public:
  explicit Solver(const Problem& problem)
      : buffers_(problem.buffers), count_(static_cast<int>(buffers_.size())), bound_(lower_bound(problem)) {
    for (int i = 0; i < count_; ++i)
      check(at(i).size >= 0 && at(i).first <= at(i).last && at(i).alignment > 0, "buffer ", i, " is malformed");
    find_neighbors();
    best_.height = std::numeric_limits<std::int64_t>::max();
  }

  Solution solve(const Problem& problem) {
    if (crowded_) return by_birth(problem);
    greedy();
    if (best_.height > bound_ && count_ <= kExactBuffers) {
      Solution partial{std::vector<std::int64_t>(buffers_.size(), kUnplaced), 0};
      search(partial, 0);
      if (nodes_ <= kSearchNodes) return best_;   // searched to the end: the optimum
    }
    if (best_.height > bound_) improve();
    return best_;
  }

 private:
  static constexpr std::int64_t kUnplaced = -1;
  const Buffer& at(int i) const { return buffers_[static_cast<std::size_t>(i)]; }
  std::vector<int>& neighbors(int i) { return neighbors_[static_cast<std::size_t>(i)]; }

  // Buffers by their first step, beside those that still live then.
  void find_neighbors() {
    neighbors_.resize(buffers_.size());
    Order order, living;
    for (int i = 0; i < count_; ++i)
      if (at(i).size > 0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return at(a).first < at(b).first; });
    std::int64_t pairs = 0;
    for (int i : order) {
      std::erase_if(living, [&](int j) { return at(j).last < at(i).first; });
      pairs += static_cast<std::int64_t>(living.size());
      crowded_ = pairs > kMaxPairs;
      if (crowded_) return;
      for (int j : living) neighbors(i).push_back(j), neighbors(j).push_back(i);
      living.push_back(i);
    }
  }

  // The lowest offset where buffer i fits between its placed neighbors.
  std::int64_t lowest(int i, const std::vector<std::int64_t>& offsets) {
    taken_.clear();
    for (int j : neighbors(i))
      if (const std::int64_t start = offsets[static_cast<std::size_t>(j)]; start != kUnplaced)
        taken_.emplace_back(start, start + at(j).size);
    effort_ += static_cast<std::int64_t>(neighbors(i).size()) + 1;
    std::sort(taken_.begin(), taken_.end());
    std::int64_t offset = 0;
    for (const auto& [start, end] : taken_) {
      if (checked_add(offset, at(i).size) <= start) break;
      offset = std::max(offset, round_up(end, at(i).alignment));
    }
    return offset;
  }

  Solution place(const Order& order) {
    Solution solution{std::vector<std::int64_t>(buffers_.size(), kUnplaced), 0};
    for (int i : order) {
      const std::int64_t offset = at(i).size == 0 ? 0 : lowest(i, solution.offsets);
      solution.offsets[static_cast<std::size_t>(i)] = offset;
      solution.height = std::max(solution.height, checked_add(offset, at(i).size));
    }
    return solution;
  }

  void greedy() {
    Order order(buffers_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto attempt = [&](auto key) {
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) > key(b); });
      if (Solution s = place(order); s.height < best_.height) {
        best_ = std::move(s);
        best_order_ = order;
      }
      std::iota(order.begin(), order.end(), 0);
    };
    const auto steps = [&](int i) { return std::int64_t{at(i).last} - at(i).first + 1; };
    const auto pressure = [&](int i) {   // bytes that live beside it
      double sum = 0;
      for (int j : neighbors(i)) sum += static_cast<double>(at(j).size);
      return sum;
    };
    attempt([&](int i) { return at(i).size; });
    attempt([&](int i) { return static_cast<double>(at(i).size) * static_cast<double>(steps(i)); });
    attempt([&](int i) { return std::pair(steps(i), at(i).size); });
    attempt([&](int i) { return pressure(i); });
    attempt([&](int i) { return pressure(i) + static_cast<double>(at(i).size); });
    attempt([&](int i) { return -at(i).first; });
    attempt([&](int i) { return at(i).last; });
  }

  // Brings a topmost buffer forward in the order, by a fixed sequence of amounts; equal heights are accepted to leave plateaus.
  void improve() {
    Order order = best_order_;
    Solution current = best_;
    std::uint64_t state = 1;
    const auto random = [&](std::size_t n) {
      return static_cast<std::size_t>((state = state * 6364136223846793005u + 1442695040888963407u) >> 33) % n;
    };
    while (effort_ < kImproveEffort && best_.height > bound_) {
      Order next = order;
      for (std::size_t position = 0; position < next.size(); ++position) {
        const auto i = static_cast<std::size_t>(next[position]);
        if (current.offsets[i] + at(next[position]).size != current.height || at(next[position]).size == 0) continue;
        const std::size_t to = position == 0 ? 0 : random(position);
        std::rotate(next.begin() + static_cast<std::ptrdiff_t>(to), next.begin() + static_cast<std::ptrdiff_t>(position),
                    next.begin() + static_cast<std::ptrdiff_t>(position) + 1);
        break;
      }
      if (random(2) == 0) std::swap(next[random(next.size())], next[random(next.size())]);
      Solution s = place(next);
      if (s.height > current.height) continue;
      order = std::move(next);
      current = std::move(s);
      if (current.height < best_.height) best_ = current;
    }
  }

  // All orders, each buffer on top of its placed neighbors: sorted by its offsets, every placement is at least as high as one of
  // these, so the least of them is the optimum. Cut off where the best known height is reached.
  void search(Solution& partial, int placed) {
    if (placed == count_) {
      best_ = partial;   // lower than the best so far, or it would have been cut off
      return;
    }
    for (int i = 0; i < count_ && best_.height > bound_; ++i) {
      auto& offset = partial.offsets[static_cast<std::size_t>(i)];
      if (offset != kUnplaced) continue;
      std::int64_t low = 0;
      for (int j : neighbors(i))
        if (const std::int64_t o = partial.offsets[static_cast<std::size_t>(j)]; o != kUnplaced) low = std::max(low, o + at(j).size);
      low = round_up(low, at(i).alignment);
      const std::int64_t before = partial.height, height = std::max(before, low + at(i).size);
      if (height >= best_.height || ++nodes_ > kSearchNodes) continue;
      offset = low;
      partial.height = height;
      search(partial, placed + 1);
      offset = kUnplaced;
      partial.height = before;
    }
  }

  const std::vector<Buffer>& buffers_;
  int count_;
  std::int64_t bound_, effort_ = 0, nodes_ = 0;
  bool crowded_ = false;
  std::vector<std::vector<int>> neighbors_;
  std::vector<std::pair<std::int64_t, std::int64_t>> taken_;
  Order best_order_;
  Solution best_;
};

}  // namespace

Solution solve(const Problem& problem) { return Solver(problem).solve(problem); }

}  // namespace tenfold::memory
