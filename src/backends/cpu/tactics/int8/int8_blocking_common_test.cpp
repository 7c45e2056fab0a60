// Shares of an int8 product: every block of every group with every piece of the columns once, and a worker's stretch of rows in one run.
#include "backends/cpu/tactics/int8/int8_blocking_common.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace tenfold::backends::cpu {
namespace {

void expect_all_once(const Int8Blocking& blocking) {
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> seen;
  for (std::int64_t i = 0; i < blocking.count(); ++i) {
    const Int8Blocking::Part p = blocking.part(i);
    EXPECT_TRUE(p.block >= 0 && p.block < blocking.blocks && p.group >= 0 && p.group < blocking.groups && p.piece >= 0 &&
                p.piece < blocking.pieces);
    seen.insert({p.block, p.group, p.piece});
  }
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), blocking.count());
}

TEST(Int8Blocking, TakesEachPartOnce) {
  for (const std::int64_t blocks : {1, 4, 9})
    for (const std::int64_t groups : {1, 3})
      for (const std::int64_t pieces : {1, 2, 5}) expect_all_once({.blocks = blocks, .groups = groups, .pieces = pieces});
  for (const std::int64_t workers : {2, 3})
    for (const std::int64_t pieces : {1, 4}) expect_all_once({.blocks = 2 * workers, .pieces = pieces, .stretches = workers});
}

TEST(Int8Blocking, WorkersKeepTheirRows) {
  const Int8Blocking blocking{.blocks = 6, .pieces = 4, .stretches = 3};
  const std::int64_t share = blocking.count() / 3;
  for (std::int64_t i = 0; i < blocking.count(); ++i) EXPECT_EQ(blocking.part(i).block / 2, i / share) << i;
}

// A worker's rows all meet one piece of the weights before the next piece comes.
TEST(Int8Blocking, BlocksShareWeights) {
  const Int8Blocking blocking{.blocks = 4, .pieces = 3, .stretches = 2};
  for (std::int64_t i = 0; i < blocking.count(); ++i) EXPECT_EQ(blocking.part(i).piece, i / blocking.stretch() % 3) << i;
}

TEST(Int8Blocking, RowsPayWhereWeightsAreSmall) {
  EXPECT_TRUE(Int8Blocking::rows_pay(2, 256 * 1024, 196 * 256, 196 * 1024));      // 14x14, 256 to 1024
  EXPECT_FALSE(Int8Blocking::rows_pay(2, 512 * 2048, 49 * 512, 49 * 2048));       // 7x7, 512 to 2048
  EXPECT_TRUE(Int8Blocking::rows_pay(1, 1 << 30, 1, 1));                          // nobody else reads
}

}  // namespace
}  // namespace tenfold::backends::cpu
