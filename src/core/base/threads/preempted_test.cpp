// A thread's clock stands still while it does not run; a thread that runs or waits is moved, and may go where it could before.
#include "base/threads/preempted.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/threads/cpu_places.h"

namespace tenfold {
namespace {

using Clock = std::chrono::steady_clock;

// A thread that runs and tells whether it has been on one CPU since it was asked: others' work may send it on at once.
struct Runner {
  std::atomic<pid_t> number{0};
  std::atomic<int> expected{-1};
  std::atomic<bool> been{false}, stop{false};
  std::thread thread{[this] {
    number = gettid();
    while (!stop)
      if (const int where = expected; where == sched_getcpu() && where == expected) been = true;
  }};
  ~Runner() { stop = true, thread.join(); }
  void look_for(int where) { expected = where, been = false; }
  bool has_been_there(std::chrono::milliseconds patience) const {
    for (const auto until = Clock::now() + patience; Clock::now() < until;) {
      if (been) return true;
      std::this_thread::sleep_for(std::chrono::microseconds(100));   // leaves it this CPU
    }
    return false;
  }
};

// What the test's own thread is kept to ends with the test, however it ends.
struct Kept {
  cpu_set_t before;
  Kept() { sched_getaffinity(0, sizeof before, &before); }
  ~Kept() { sched_setaffinity(0, sizeof before, &before); }
};

cpu_set_t allowed(pid_t thread) {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(thread, sizeof set, &set), 0);
  return set;
}

TEST(Preempted, RunTimeAdvancesWhileTheThreadRuns) {
  std::atomic<pid_t> sleeper{0};
  std::atomic<bool> stop{false};
  std::thread sleeps([&] { sleeper = gettid(), stop.wait(false); });
  Runner runner;
  while (runner.number == 0 || sleeper == 0) std::this_thread::yield();
  // Beside other programs either may have to wait for a CPU: the one to begin, the other to fall asleep.
  const auto within = [](auto holds) {
    for (const auto until = Clock::now() + std::chrono::seconds(5); Clock::now() < until;)
      if (holds()) return true;
    return false;
  };
  const auto gains = [](pid_t thread) {
    const std::int64_t before = run_time(thread);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return run_time(thread) - before;
  };
  EXPECT_TRUE(within([&] { return gains(runner.number) > 0; }));
  EXPECT_TRUE(within([&] { return gains(sleeper) == 0; }));
  stop = true, stop.notify_one();
  sleeps.join();
  EXPECT_LT(run_time(0x3ffffff), 0);   // above every thread's number
}

TEST(Preempted, BringHereMovesTheThreadOnce) {
  const std::vector<int> cpus = CpuPlaces::of_this_thread().order();
  if (cpus.size() < 2) GTEST_SKIP() << "needs two CPUs";
  const cpu_set_t mine = allowed(0);
  const Kept kept;
  Runner runner;
  while (runner.number == 0) std::this_thread::yield();
  ASSERT_TRUE(stay_on({cpus[0]}));
  cpu_set_t other;
  CPU_ZERO(&other);
  CPU_SET(static_cast<std::size_t>(cpus[1]), &other);
  ASSERT_EQ(sched_setaffinity(runner.number, sizeof other, &other), 0);
  EXPECT_FALSE(bring_here(runner.number));   // it may not run here
  runner.look_for(cpus[1]);
  ASSERT_TRUE(runner.has_been_there(std::chrono::seconds(5)));
  runner.look_for(cpus[0]);
  ASSERT_EQ(sched_setaffinity(runner.number, sizeof mine, &mine), 0);
  bool brought = false;   // where others want this CPU, the scheduler may send it away before it has run here
  for (int attempt = 0; attempt < 50 && !brought; ++attempt) {
    ASSERT_TRUE(bring_here(runner.number));
    brought = runner.has_been_there(std::chrono::milliseconds(40));
  }
  EXPECT_TRUE(brought);
  const cpu_set_t after = allowed(runner.number);
  EXPECT_TRUE(CPU_EQUAL(&after, &mine));
}

}  // namespace
}  // namespace tenfold
