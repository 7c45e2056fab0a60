// Boxes of images by two corners, and how much of two is common to both: the rule of NonMaxSuppression and SelectBoxes.
#pragma once

#include <algorithm>
#include <array>

namespace tenfold::ops {

using Corners = std::array<double, 4>;   // the lesser ones first

inline Corners sorted_corners(const Corners& b) {
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

// `border` is added to each extent: 1 where corners name pixels, and not places between them.
inline double area(const Corners& b, double border = 0) { return (b[2] - b[0] + border) * (b[3] - b[1] + border); }

// Intersection over union; 0 for boxes without area.
inline double overlap(const Corners& a, const Corners& b, double border = 0, double border_of_overlap = 0) {
  const Corners both{std::max(a[0], b[0]), std::max(a[1], b[1]), std::min(a[2], b[2]), std::min(a[3], b[3])};
  const bool wide = both[2] - both[0] + border_of_overlap > 0, tall = both[3] - both[1] + border_of_overlap > 0;
  if (!(wide & tall)) return 0;   // one branch: most boxes lie apart, in which direction nobody can foresee
  const double common = area(both, border_of_overlap), either = area(a, border) + area(b, border) - common;
  return common > 0 && either > 0 ? common / either : 0;
}

}  // namespace tenfold::ops
