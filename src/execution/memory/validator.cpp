// What must hold of a placement, checked without trusting the solver; and the bound it is measured against.
#include <algorithm>
#include <map>
#include <numeric>

#include "base/checked.h"
#include "memory/problem.h"

namespace tenfold::memory {

std::int64_t lower_bound(const Problem& problem) {
  std::map<std::int64_t, std::int64_t> change;   // of the live sum, by step
  for (const Buffer& buffer : problem.buffers) {
    change[buffer.first] = checked_add(change[buffer.first], buffer.size);
    change[std::int64_t{buffer.last} + 1] = checked_sub(change[std::int64_t{buffer.last} + 1], buffer.size);
  }
  std::int64_t live = 0, max = 0;
  for (const auto& [step, delta] : change) max = std::max(max, live = checked_add(live, delta));
  return max;
}

void validate(const Problem& problem, const Solution& solution) {
  const std::vector<Buffer>& buffers = problem.buffers;
  check(solution.offsets.size() == buffers.size(), "placement has ", solution.offsets.size(), " offsets for ", buffers.size(), " buffers");
  std::vector<std::size_t> by_start(buffers.size());
  std::multimap<std::int32_t, std::int64_t> deaths;   // last step -> offset
  std::map<std::int64_t, std::size_t> living;         // by offset: those checked do not overlap, so only the nearest two may
  std::iota(by_start.begin(), by_start.end(), std::size_t{0});
  std::stable_sort(by_start.begin(), by_start.end(), [&](std::size_t a, std::size_t b) { return buffers[a].first < buffers[b].first; });
  for (std::size_t i : by_start) {
    const Buffer& buffer = buffers[i];
    const std::int64_t offset = solution.offsets[i];
    check(buffer.size >= 0 && buffer.first <= buffer.last && buffer.alignment > 0, "buffer ", i, " is malformed");
    check(offset >= 0 && offset % buffer.alignment == 0, "buffer ", i, " lies at ", offset, ", not a multiple of ", buffer.alignment);
    check(checked_add(offset, buffer.size) <= solution.height, "buffer ", i, " ends above the arena's ", solution.height, " bytes");
    if (buffer.size == 0) continue;
    for (; !deaths.empty() && deaths.begin()->first < buffer.first; deaths.erase(deaths.begin())) living.erase(deaths.begin()->second);
    const auto next = living.lower_bound(offset);
    check(next == living.end() || next->first >= offset + buffer.size, "buffers ", next == living.end() ? 0 : next->second, " and ", i,
          " live together and overlap");
    if (next != living.begin()) {
      const std::size_t below = std::prev(next)->second;
      check(solution.offsets[below] + buffers[below].size <= offset, "buffers ", below, " and ", i, " live together and overlap");
    }
    living.emplace(offset, i);
    deaths.emplace(buffer.last, offset);
  }
}

}  // namespace tenfold::memory
