// Windows that cover a voxel, beside a search among all of them.
#include "windows/coverage.h"

#include <gtest/gtest.h>

namespace tenfold::windows {
namespace {

TEST(Coverage, AsFoundByLooking) {
  const Axis axes[] = {make_axis(100, 32, 0.25, 0, WindowPlacement::fixed_step),
                       make_axis(41, 10, 0.9, 0, WindowPlacement::fixed_step),
                       make_axis(110, 64, 0.5, 5, WindowPlacement::even), make_axis(7, 9, 0, 0, WindowPlacement::even)};
  for (const Axis& axis : axes)
    for (const std::int64_t roi : {axis.roi, axis.roi * 2}) {   // another resolution, too
      const OutputAxis output = output_axis(axis, roi);
      std::int64_t next = 0;
      for (const Cover& cover : covers(output)) {
        EXPECT_EQ(cover.begin, next);   // none is left out
        next = cover.end;
        for (std::int64_t voxel = cover.begin; voxel < cover.end; ++voxel)
          for (std::int64_t w = 0; w < std::ssize(output.starts); ++w) {
            const std::int64_t own = voxel - output.starts[static_cast<std::size_t>(w)];
            const Interval inside = counted(output, w);
            EXPECT_EQ(own >= inside.begin && own < inside.end, w >= cover.first && w <= cover.last)
                << "voxel " << voxel << ", window " << w;
          }
      }
      EXPECT_EQ(next, output.padded);
    }
}

TEST(Coverage, AHaloCountsAtTheBorder) {
  const OutputAxis axis = output_axis(make_axis(20, 10, 0, 2, WindowPlacement::fixed_step), 10);
  EXPECT_EQ(counted(axis, 0).begin, 0);
  EXPECT_EQ(counted(axis, 0).end, 8);
  EXPECT_EQ(counted(axis, 1).begin, 2);
}

}  // namespace
}  // namespace tenfold::windows
