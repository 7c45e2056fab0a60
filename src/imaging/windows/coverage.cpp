// Windows begin and end in their order, so those that cover a voxel follow each other.
#include "windows/coverage.h"

#include <algorithm>

namespace tenfold::windows {

Interval counted(const OutputAxis& axis, std::int64_t window) {
  const bool first = window == 0, last = window + 1 == static_cast<std::int64_t>(axis.starts.size());
  return {first ? 0 : axis.halo, axis.roi - (last ? 0 : axis.halo)};
}

std::vector<Cover> covers(const OutputAxis& axis) {
  const auto count = static_cast<std::int64_t>(axis.starts.size());
  std::vector<Interval> windows;
  std::vector<std::int64_t> cuts;
  for (std::int64_t w = 0; w < count; ++w) {
    const std::int64_t start = axis.starts[static_cast<std::size_t>(w)];
    const Interval own = counted(axis, w);
    windows.push_back({start + own.begin, start + own.end});
    cuts.insert(cuts.end(), {windows.back().begin, windows.back().end});
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<Cover> all;
  std::int64_t first = 0, last = 0;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    while (windows[static_cast<std::size_t>(first)].end <= cuts[i]) ++first;
    while (last + 1 < count && windows[static_cast<std::size_t>(last + 1)].begin <= cuts[i]) ++last;
    all.push_back({cuts[i], cuts[i + 1], first, last});
  }
  return all;
}

}  // namespace tenfold::windows
