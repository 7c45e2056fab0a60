// The order of a volume's blocks: each one once, slab by slab, and the convolution in that order.
#include "backends/cpu/gemm/conv/window_rows.h"

#include <set>

#include "backends/cpu/tactics/f32_for_tests.h"

namespace tenfold::backends {
Tactic cpu_conv_igemm();
namespace {

using namespace cpu;

TEST(WindowSlabs, EveryBlockOnce) {
  for (const WindowSlabs slabs : {WindowSlabs{3, 5, 2}, WindowSlabs{1, 7, 3}, WindowSlabs{4, 6, 6}, WindowSlabs{5, 4, 1}}) {
    std::set<std::int64_t> blocks;
    for (std::int64_t i = 0; i < slabs.planes * slabs.blocks; ++i) blocks.insert(slabs.block(i));
    EXPECT_EQ(slabs.planes * slabs.blocks, static_cast<std::int64_t>(blocks.size()));
    EXPECT_EQ(0, *blocks.begin());
    EXPECT_EQ(slabs.planes * slabs.blocks - 1, *blocks.rbegin());
  }
  const WindowSlabs slabs{3, 5, 2};   // two blocks of each plane, two more, the last one
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < 15; ++i) order.push_back(slabs.block(i));
  EXPECT_EQ((std::vector<std::int64_t>{0, 1, 5, 6, 10, 11, 2, 3, 7, 8, 12, 13, 4, 9, 14}), order);
}

TEST(WindowSlabs, OnlyWherePlanesAreFar) {
  ConvShape shape{};
  shape.kernel = {3, 3, 3};
  const std::int64_t dims[] = {2, 64, 8, 32, 28}, strides[] = {8 * 32 * 28 * 64, 1, 32 * 28 * 64, 28 * 64, 64};
  const Bound image{nullptr, dims, strides, 5};
  const ConvExtents extents(image, image);
  EXPECT_EQ(0, window_slabs(shape, extents, 112, 1 << 20).planes) << "three planes of 229 KB fit";
  const WindowSlabs slabs = window_slabs(shape, extents, 112, 256 << 10);
  EXPECT_EQ(16, slabs.planes);
  EXPECT_EQ(8, slabs.blocks);
  EXPECT_EQ(3, slabs.slab) << "three planes of three blocks are 258 KB at most";
  shape.kernel = {1, 3, 3};
  EXPECT_EQ(0, window_slabs(shape, extents, 112, 256 << 10).planes) << "windows of one plane";
}

TEST(WindowSlabs, Convolution) {
  const std::int64_t near = this_cpu().l2_bytes / 2, wide = near / (3 * 16 * 64 * 4) + 3;   // lines of 16 positions: three planes are more
  testing::check_on_this_cpu(cpu_conv_igemm(),
                             {"Conv", cat("f32[1,64,3,", wide, ",16] f32[9,64,3,3,3]! f32[9]! pads=[1,1,1,1,1,1]")}, 2e-6);
}

}  // namespace
}  // namespace tenfold::backends
