// Which windows cover which voxels of an axis.
#pragma once

#include "windows/axis.h"

namespace tenfold::windows {

struct Interval { std::int64_t begin, end; };
// What counts of a window along an axis, in its own coordinates: its halo counts where it touches the image's border.
Interval counted(const OutputAxis& axis, std::int64_t window);

// The windows first to last cover the voxels [begin, end) of the padded axis.
struct Cover { std::int64_t begin, end, first, last; };
// Of all voxels, in their order.
std::vector<Cover> covers(const OutputAxis& axis);

}  // namespace tenfold::windows
