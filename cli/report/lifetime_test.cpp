// Tests of who reads what, and how long memory is in use.
#include "report/lifetime.h"

#include <gtest/gtest.h>

namespace tenfold::cli {
namespace {

using Edges = std::set<std::pair<int, int>>;

TEST(Lifetimes, ReuseOfMemory) {
  Lifetimes lives;
  lives.read(0, "binding 0", 64), lives.write(0, 10, "arena+0", 64);
  lives.read(1, "arena+0", 64), lives.write(1, 11, "arena+64", 64);
  lives.read(2, "arena+64", 64), lives.write(2, 12, "arena+0", 32);  // over what step 0 wrote
  lives.read(3, "arena+0", 32), lives.write(3, 13, "binding 1", 32);
  EXPECT_EQ(lives.edges(), (Edges{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_EQ(lives.readers_of("binding 0"), std::vector<int>{0});
  const std::vector<MemoryBlock> blocks = lives.arena();
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(std::pair(blocks[0].first, blocks[0].last), std::pair(0, 1));
  EXPECT_FALSE(blocks[0].in_place);
  EXPECT_EQ(std::pair(blocks[2].first, blocks[2].last), std::pair(2, 3));
  EXPECT_EQ(blocks[2].bytes, 32);
}

TEST(Lifetimes, InPlace) {
  Lifetimes lives;
  lives.write(0, 1, "arena+0", 64);
  lives.read(1, "arena+0", 64), lives.write(1, 2, "arena+0", 64);
  lives.read(2, "arena+0", 64);
  EXPECT_EQ(lives.edges(), (Edges{{0, 1}, {1, 2}}));
  EXPECT_TRUE(lives.arena()[0].in_place);
  EXPECT_FALSE(lives.arena()[1].in_place);
}

TEST(Lifetimes, ViewsAndParts) {
  Lifetimes lives;
  lives.write(0, 1, "arena+0", 100), lives.write(1, 2, "arena+100", 100);  // parts of what a concatenation would copy
  lives.read(2, "arena+0", 200);
  lives.read(3, "arena+150", 10);
  lives.write(4, 3, "arena+40", 20);  // in the middle of what step 0 wrote
  lives.read(5, "arena+0", 40), lives.read(6, "arena+40", 20), lives.read(7, "arena+60", 40);
  EXPECT_EQ(lives.edges(), (Edges{{0, 2}, {1, 2}, {1, 3}, {0, 5}, {4, 6}, {0, 7}}));
}

TEST(Lifetimes, PlacesThatAreNoArena) {
  Lifetimes lives;
  lives.write(0, 1, "grown 2", -1), lives.read(1, "grown 2+64", 8);
  lives.read(1, "constant 3 'a+1'", 8), lives.read(1, "-", 8), lives.read(1, "literal 0", 8);
  EXPECT_EQ(lives.edges(), (Edges{{0, 1}}));
  EXPECT_TRUE(lives.arena().empty());
}

}  // namespace
}  // namespace tenfold::cli
