// Which grids a device takes; no GPU is asked.
#include "backends/cuda/device/launch.h"

#include <gtest/gtest.h>

namespace tenfold::backends::cuda {
namespace {

TEST(Grid, FitsUpToTheDevicesLimits) {
  EXPECT_TRUE((Grid{2147483647, 65535, 65535}.fits()));
  EXPECT_FALSE((Grid{2147483648, 1, 1}.fits()));
  EXPECT_FALSE((Grid{1, 65536, 1}.fits()));
  EXPECT_FALSE((Grid{1, 1, 65536}.fits()));
}

TEST(Grid, FitsNotWhereItsLower32BitsWould) { EXPECT_FALSE((Grid{(std::int64_t{1} << 32) + 1, 1, 1}.fits())); }

}  // namespace
}  // namespace tenfold::backends::cuda
