#include "text/decoders/speculation.h"

#include <algorithm>

namespace tenfold::decoders {

std::span<const std::int32_t> guess(std::span<const std::int32_t> ids, std::size_t most) {
  if (most == 0) return {};
  for (std::size_t size = 3; size >= 2; --size) {
    if (ids.size() <= size) continue;
    const std::span<const std::int32_t> last = ids.last(size);
    for (std::size_t end = ids.size() - 1; end >= size; --end)
      if (std::equal(last.begin(), last.end(), ids.begin() + static_cast<std::ptrdiff_t>(end - size)))
        return ids.subspan(end, std::min(most, ids.size() - end));
  }
  return {};
}

}  // namespace tenfold::decoders
