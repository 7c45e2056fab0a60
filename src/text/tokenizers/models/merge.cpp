#include "text/tokenizers/models/merge.h"

#include <algorithm>
#include <array>
#include <functional>

namespace tenfold::tokenizing {
namespace {

// So many are merged by looking at all of them each time, which is faster than a queue.
constexpr std::size_t kFew = 48;

void merge_few(const PairTable& pairs, std::vector<Symbol>& symbols) {
  std::array<Merge, kFew> next;   // of each symbol and the one behind it
  std::size_t count = symbols.size();
  for (std::size_t i = 0; i + 1 < count; ++i) next[i] = pairs.find(symbols[i].id, symbols[i + 1].id);
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i)
      if (next[i].rank < next[best].rank) best = i;
    if (next[best].id < 0) break;
    symbols[best] = {next[best].id, symbols[best].length + symbols[best + 1].length};
    --count;
    for (std::size_t i = best + 1; i < count; ++i) symbols[i] = symbols[i + 1], next[i] = next[i + 1];
    if (best > 0) next[best - 1] = pairs.find(symbols[best - 1].id, symbols[best].id);
    if (best + 1 < count) next[best] = pairs.find(symbols[best].id, symbols[best + 1].id);
  }
  symbols.resize(count);
}

constexpr std::uint32_t kNone = UINT32_MAX;
struct Link { std::uint32_t before, behind; };

class Queue {
 public:
  Queue(const PairTable& pairs, std::vector<Symbol>& symbols, std::vector<Link>& links, std::vector<std::uint64_t>& waiting)
      : pairs_(pairs), symbols_(symbols), links_(links), waiting_(waiting) {
    links_.resize(symbols.size()), waiting_.clear();
    const auto count = static_cast<std::uint32_t>(symbols.size());
    for (std::uint32_t i = 0; i < count; ++i) links_[i] = {i - 1, i + 1 < count ? i + 1 : kNone};   // 0 - 1 is kNone
    for (std::uint32_t i = 0; i + 1 < count; ++i)
      if (const Merge one = find(i); one.id >= 0) waiting_.push_back(std::uint64_t{one.rank} << 32 | i);
    std::make_heap(waiting_.begin(), waiting_.end(), std::greater<>());
  }
  void run() {
    while (!waiting_.empty()) {
      std::pop_heap(waiting_.begin(), waiting_.end(), std::greater<>());
      const std::uint64_t top = waiting_.back();
      waiting_.pop_back();
      const auto at = static_cast<std::uint32_t>(top);
      if (symbols_[at].length == 0) continue;
      const Merge one = find(at);
      if (one.id >= 0 && one.rank == top >> 32) join(at, one.id);   // otherwise one of the two has become another
    }
    std::erase_if(symbols_, [](const Symbol& one) { return one.length == 0; });
  }

 private:
  Merge find(std::uint32_t at) const {
    const std::uint32_t behind = links_[at].behind;
    return behind == kNone ? Merge{} : pairs_.find(symbols_[at].id, symbols_[behind].id);
  }
  void push(std::uint32_t at) {
    const Merge one = find(at);
    if (one.id < 0) return;
    waiting_.push_back(std::uint64_t{one.rank} << 32 | at);
    std::push_heap(waiting_.begin(), waiting_.end(), std::greater<>());
  }
  void join(std::uint32_t at, std::int32_t id) {
    const std::uint32_t gone = links_[at].behind, behind = links_[gone].behind;
    symbols_[at] = {id, symbols_[at].length + symbols_[gone].length};
    symbols_[gone].length = 0;
    links_[at].behind = behind;
    if (behind != kNone) links_[behind].before = at;
    if (links_[at].before != kNone) push(links_[at].before);
    push(at);
  }

  const PairTable& pairs_;
  std::vector<Symbol>& symbols_;
  std::vector<Link>& links_;
  std::vector<std::uint64_t>& waiting_;   // rank, place
};

}  // namespace

void merge(const PairTable& pairs, std::vector<Symbol>& symbols) {
  if (symbols.size() <= kFew) return merge_few(pairs, symbols);
  thread_local std::vector<Link> links;
  thread_local std::vector<std::uint64_t> waiting;
  Queue(pairs, symbols, links, waiting).run();
}

}  // namespace tenfold::tokenizing
