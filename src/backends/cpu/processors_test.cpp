// Which CPUs pinned streams get.
#include "backends/cpu/processors.h"

#include <gtest/gtest.h>

namespace tenfold::backends::cpu {
namespace {

using Cpus = std::vector<int>;

TEST(Processors, InTurnAndBack) {
  Processors all({0, 2, 1, 3});
  const auto first = all.take(1);
  auto second = all.take(2);
  EXPECT_EQ(*first, Cpus({0}));
  EXPECT_EQ(*second, Cpus({2, 1}));
  const auto third = all.take(2);
  EXPECT_EQ(*third, Cpus({3, 0}));
  second.reset();
  EXPECT_EQ(*all.take(1), Cpus({2})) << "what was given back is free";
  EXPECT_EQ(*all.take(2), Cpus({2, 1}));
  EXPECT_EQ(*all.take(6), Cpus({2, 1, 2, 1, 3, 0})) << "more threads than processors: those of fewest users again";
}

TEST(Processors, None) { EXPECT_TRUE(Processors({}).take(3)->empty()); }

}  // namespace
}  // namespace tenfold::backends::cpu
