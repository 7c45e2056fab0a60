// Tiles of attention: warps that want more registers than the block was started with would wait for ever.
#include "backends/cuda/codegen/attention/attention_wgmma.h"

#include <gtest/gtest.h>

namespace tenfold::backends::cuda {
namespace {

TEST(AttentionTile, SharesOutWhatItWasStartedWith) {
  for (int groups = 1; groups <= 4; ++groups)
    for (int teams = 1; groups * teams <= 4; ++teams) {
      const AttentionTile tile{groups, teams, 64, 2};
      const int at_start = 65536 / tile.threads() / 8 * 8;  // as ptxas chooses for __launch_bounds__(threads, 1), 255 at most
      EXPECT_LE(128 * (24 + groups * teams * tile.registers()), std::min(at_start, 248) * tile.threads()) << groups << " " << teams;
      EXPECT_GE(tile.registers(), 96);
      EXPECT_EQ(tile.registers() % 8, 0);
    }
}

}  // namespace
}  // namespace tenfold::backends::cuda
