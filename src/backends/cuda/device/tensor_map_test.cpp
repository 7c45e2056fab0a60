// Which convolutions TMA's fields hold; no GPU is asked.
#include "backends/cuda/device/tensor_map.h"

#include <gtest/gtest.h>

namespace tenfold::backends::cuda {
namespace {

// One axis of an image after another, from the outermost that moves.
GemmProblem conv(int rank, std::int64_t extent, std::int64_t taps, std::int64_t stride, std::int64_t dilation, std::int64_t pad) {
  GemmProblem p;
  p.is_conv = true, p.channels = 64;
  for (std::size_t d = static_cast<std::size_t>(3 - rank); d < 3; ++d) {
    p.in_extent[d] = extent, p.kernel[d] = taps, p.stride[d] = stride, p.dilation[d] = dilation, p.begin[d] = pad;
    p.out_extent[d] = (extent + 2 * pad - (taps - 1) * dilation - 1) / stride + 1;
  }
  return p;
}

TEST(TensorMap, HoldsUsualConvolutions) {
  for (int rank : {1, 2, 3}) {
    EXPECT_EQ(conv(rank, 56, 3, 1, 1, 1).spatial_rank(), rank);
    EXPECT_TRUE(can_describe_images(conv(rank, 56, 3, 1, 1, 1)));
    EXPECT_TRUE(can_describe_images(conv(rank, 57, 3, 2, 2, 2)));
  }
  EXPECT_TRUE(can_describe_images(conv(1, 4000, 400, 1, 1, 200)));
}

TEST(TensorMap, RefusesWhatItsFieldsDoNotHold) {
  EXPECT_FALSE(can_describe_images(conv(3, 56, 40, 1, 1, 20)));   // corners of five bits
  EXPECT_FALSE(can_describe_images(conv(2, 400, 300, 1, 1, 0)));  // of eight
  EXPECT_FALSE(can_describe_images(conv(2, 400, 3, 1, 128, 100)));
  EXPECT_FALSE(can_describe_images(conv(2, 56, 3, 9, 1, 1)));  // steps up to eight
}

}  // namespace
}  // namespace tenfold::backends::cuda
