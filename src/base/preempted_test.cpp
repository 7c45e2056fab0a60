// A thread's clock stands still while it does not run; a thread that runs or waits is moved, and may go where it could before.
#include "base/preempted.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/cpu_places.h"

namespace tenfold {
namespace {

using Clock = std::chrono::steady_clock;

// A thread that runs and tells where.
struct Runner {
  std::atomic<pid_t> number{0};
  std::atomic<int> cpu{-1};
  std::atomic<bool> run{true}, stop{false};
  std::thread thread{[this] {
    number = gettid();
    while (!stop) {
      cpu = sched_getcpu();
      if (!run) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }};
  ~Runner() { stop = true, thread.join(); }
  bool comes_to(int where) const {
    for (const auto until = Clock::now() + std::chrono::seconds(2); Clock::now() < until;) {
      if (cpu == where) return true;
      std::this_thread::sleep_for(std::chrono::microseconds(100));   // leaves it this CPU
    }
    return false;
  }
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
  std::this_thread::sleep_for(std::chrono::milliseconds(20));   // until one sleeps and one has begun
  const std::int64_t ran = run_time(runner.number), slept = run_time(sleeper);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_GT(run_time(runner.number), ran);
  EXPECT_EQ(run_time(sleeper), slept);
  stop = true, stop.notify_one();
  sleeps.join();
  EXPECT_LT(run_time(0x3ffffff), 0);   // above every thread's number
}

TEST(Preempted, BringHereMovesTheThreadOnce) {
  const std::vector<int> cpus = CpuPlaces::of_this_thread().order();
  if (cpus.size() < 2) GTEST_SKIP() << "needs two CPUs";
  const cpu_set_t mine = allowed(0);
  Runner runner;
  while (runner.number == 0) std::this_thread::yield();
  ASSERT_TRUE(stay_on({cpus[0]}));
  cpu_set_t other;
  CPU_ZERO(&other);
  CPU_SET(static_cast<std::size_t>(cpus[1]), &other);
  ASSERT_EQ(sched_setaffinity(runner.number, sizeof other, &other), 0);
  EXPECT_FALSE(bring_here(runner.number));   // it may not run here
  ASSERT_EQ(sched_setaffinity(runner.number, sizeof mine, &mine), 0);
  ASSERT_TRUE(runner.comes_to(cpus[1]));
  ASSERT_TRUE(bring_here(runner.number));
  EXPECT_TRUE(runner.comes_to(cpus[0]));
  const cpu_set_t after = allowed(runner.number);
  EXPECT_TRUE(CPU_EQUAL(&after, &mine));
  ASSERT_EQ(sched_setaffinity(0, sizeof mine, &mine), 0);
}

}  // namespace
}  // namespace tenfold
