// Pools: callers at the same time have workers of their own while there are processors for them; what is let go is used again.
#include "base/threads/pools.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace tenfold {
namespace {

TEST(Pools, CallersHaveWorkersOfTheirOwnWhileProcessorsLast) {
  Pools pools(8);
  std::vector<std::shared_ptr<Parallel>> taken;
  std::set<Parallel*> different;
  for (int i = 0; i < 5; ++i) different.insert(taken.emplace_back(pools.take(3)).get());
  EXPECT_EQ(different.size(), 2u);   // six threads; nine would be more than there are processors
  EXPECT_EQ(taken[0]->workers(), 3);
  std::map<Parallel*, int> callers;
  for (const auto& pool : taken) ++callers[pool.get()];
  for (const auto& [pool, count] : callers) EXPECT_LE(count, 3);   // and two at least: five are shared out evenly
}

TEST(Pools, WhatIsLetGoIsTakenAgain) {
  Pools pools(8);
  auto first = pools.take(2), second = pools.take(2);
  Parallel* const was = first.get();
  EXPECT_NE(was, second.get());
  first.reset();
  EXPECT_EQ(pools.take(2).get(), was);
}

TEST(Pools, AllProcessorsMakeOnePoolAndMoreThanThoseToo) {
  Pools pools(4);
  const auto all = pools.take(0);
  EXPECT_EQ(all->workers(), 4);
  EXPECT_EQ(pools.take(0), all);
  EXPECT_EQ(pools.take(4), all);
  const auto more = pools.take(6);
  EXPECT_EQ(more->workers(), 6);
  EXPECT_EQ(pools.take(6), more);
}

TEST(Pools, OneThreadNeedsNoPool) {
  Pools pools(4);
  const auto one = pools.take(1);
  EXPECT_EQ(one->workers(), 1);
  EXPECT_EQ(pools.take(1), one);
}

// Each job waits for two threads inside it: a caller that shared its pool would run its parts alone, and wait for ever.
TEST(Pools, CallersAtTheSameTimeAllGetHelp) {
  Pools pools(6);
  std::atomic<int> callers{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      const auto pool = pools.take(2);
      ++callers;
      while (callers < 3) std::this_thread::yield();
      for (int job = 0; job < 100; ++job) {
        std::atomic<int> inside{0};
        pool->for_each(2, [&](std::int64_t, int) {
          ++inside;
          while (inside.load() < 2) std::this_thread::yield();
        });
        EXPECT_EQ(inside.load(), 2);
      }
    });
  for (auto& t : threads) t.join();
}

}  // namespace
}  // namespace tenfold
