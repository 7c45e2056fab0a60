// Where samples of a region lie in an image: the rule of RoiAlign, for its reference kernel and for kernels of CPUs.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tenfold::ops {

// The two pixels that a sample lies between along one dim, and how far it is from the first.
struct RoiPlace {
  std::int64_t low = 0, high = 0;
  double beyond = 0;
  bool outside = false;   // of the image: it counts as 0
};

// Sample `i` of all along the dim, of which a bin has `samples`. In the type of the data, as other engines compute it.
template <class T>
RoiPlace roi_place(T start, T bin, std::int64_t i, std::int64_t samples, std::int64_t extent) {
  const T at = start + static_cast<T>(i / samples) * bin + (static_cast<T>(i % samples) + T(0.5)) * bin / static_cast<T>(samples);
  const bool outside = at < -1 || at > static_cast<T>(extent);
  const double inside = outside ? 0 : std::min(std::max(static_cast<double>(at), 0.0), static_cast<double>(extent - 1));
  const auto low = static_cast<std::int64_t>(inside);
  return {low, std::min(low + 1, extent - 1), inside - static_cast<double>(low), outside};
}

}  // namespace tenfold::ops
