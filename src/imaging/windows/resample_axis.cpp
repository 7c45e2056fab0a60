// Places in double: those of f32 are off by 1e-5 of a voxel in long axes.
#include "windows/resample_axis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace tenfold::windows {

ResampleAxis resample_axis(std::int64_t from, std::int64_t to, GridInterpolation interpolation) {
  require(std::max(from, to) <= std::numeric_limits<std::int32_t>::max(), ErrorKind::invalid_argument,
          "grid: an axis of ", from, " voxels resampled to ", to, ": expected less than 2^31");
  ResampleAxis axis;
  axis.from = from;
  axis.copies = interpolation == GridInterpolation::nearest || from == to;
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  for (std::int64_t i = 0; i < to; ++i) {
    const std::int64_t nearest = (2 * i + 1) * from / (2 * to);
    const double place = std::max(0.0, (static_cast<double>(i) + 0.5) * scale - 0.5);
    const std::int64_t first = axis.copies ? nearest : std::min(static_cast<std::int64_t>(place), from - 1);
    const std::int64_t second = axis.copies ? nearest : std::min(first + 1, from - 1);
    const double weight = first == second ? 0 : place - static_cast<double>(first);
    axis.first.push_back(static_cast<std::int32_t>(first)), axis.second.push_back(static_cast<std::int32_t>(second));
    axis.weight.push_back(static_cast<float>(weight));
  }
  return axis;
}

ResampleAxis::Range ResampleAxis::needs(std::int64_t begin, std::int64_t end) const {
  return {first[static_cast<std::size_t>(begin)], second[static_cast<std::size_t>(end) - 1] + 1};
}

ResampleAxis ResampleAxis::part(std::int64_t begin, std::int64_t end) const {
  const Range range = needs(begin, end);
  ResampleAxis some{range.end - range.begin, {}, {}, {}, copies};
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    some.first.push_back(first[i] - static_cast<std::int32_t>(range.begin));
    some.second.push_back(second[i] - static_cast<std::int32_t>(range.begin));
    some.weight.push_back(weight[i]);
  }
  return some;
}

std::vector<ResampleAxis> four_resample_axes(std::vector<ResampleAxis> axes) {
  while (axes.size() < 4) axes.insert(axes.begin() + 1, resample_axis(1, 1, GridInterpolation::nearest));
  return axes;
}

std::int64_t ready_planes(const ResampleAxis& planes, std::int64_t done, std::int64_t z) {
  while (done < planes.extent() && planes.second[static_cast<std::size_t>(done)] <= z) ++done;
  return done;
}

}  // namespace tenfold::windows
