#include "core/reshape.h"

namespace tenfold::server {

Shape reshaped(std::span<const std::int64_t> shape, const Shape& from, const Shape& to, bool batched) {
  Shape open, made;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] < 0) open.push_back(shape[i + (batched ? 1 : 0)]);
  if (batched) made.push_back(shape[0]);
  std::size_t next = 0;
  for (const std::int64_t extent : to) made.push_back(extent < 0 && next < open.size() ? open[next++] : extent);
  return made;
}

}  // namespace tenfold::server
