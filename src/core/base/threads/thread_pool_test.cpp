// The pool runs every part once, sleeps when idle, works after fork, and leaves the caller's floating-point state alone.
#include "base/threads/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <chrono>
#include <limits>
#include <memory>
#include <thread>

namespace tenfold {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif

// Each part writes its own slot without synchronization: a part run twice or not waited for is a wrong count (or a race).
void run_and_count(ThreadPool& pool, int parts) {
  std::vector<int> counts(static_cast<std::size_t>(parts));
  pool.for_each(parts, [&](std::int64_t part, int worker) {
    ++counts[static_cast<std::size_t>(part)];
    if (worker < 0 || worker >= pool.workers()) counts[static_cast<std::size_t>(part)] = -1000;
  });
  for (int count : counts) ASSERT_EQ(count, 1);
}

TEST(ThreadPool, RunsEveryPartOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool({.threads = threads});
    EXPECT_EQ(pool.workers(), threads);
    for (int repeat = 0; repeat < 500; ++repeat)
      for (int parts : {0, 1, 2, 7, 64}) run_and_count(pool, parts);
  }
}

TEST(ThreadPool, WorkersThatSleepWakeUp) {
  ThreadPool pool({.threads = 4, .spin_microseconds = 0});
  for (int repeat = 0; repeat < 300; ++repeat) run_and_count(pool, 16);
}

TEST(ThreadPool, WorkIsShared) {
  ThreadPool pool({.threads = 4});
  std::atomic<int> inside{0};
  pool.for_each(4, [&](std::int64_t, int) {   // nobody returns before all four are inside: needs four threads
    ++inside;
    while (inside.load() < 4) std::this_thread::yield();
  });
  EXPECT_EQ(inside.load(), 4);
}

TEST(ThreadPool, SecondCallerOfABusyPoolDoesItsOwnWork) {
  ThreadPool pool({.threads = 3});
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] { for (int repeat = 0; repeat < 300; ++repeat) run_and_count(pool, 20); });
  for (auto& caller : callers) caller.join();
  // Nested: the inner job runs inside the part.
  std::atomic<int> inner{0};
  pool.for_each(6, [&](std::int64_t, int) { pool.for_each(5, [&](std::int64_t, int) { ++inner; }); });
  EXPECT_EQ(inner.load(), 30);
}

TEST(ThreadPool, IdleThreadsUseNoProcessor) {
  ThreadPool pool({.threads = 4});
  run_and_count(pool, 100);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto cpu_time = [] {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  };
  const double before = cpu_time();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LT(cpu_time() - before, 0.005);   // under 1 % of half a second
}

TEST(ThreadPool, FlushesDenormalsAndRestoresTheCaller) {
  ThreadPool pool({.threads = 3});
  const unsigned strange = _mm_getcsr() ^ 0x6000;   // round towards zero
  const unsigned before = _mm_getcsr();
  _mm_setcsr(strange);
  std::vector<float> results(64, 1.0f);
  volatile float min = std::numeric_limits<float>::min();
  pool.for_each(64, [&](std::int64_t part, int) { results[static_cast<std::size_t>(part)] = min * 0.5f; });
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(after & ~0x3fu, strange & ~0x3fu);   // without the sticky flags
  for (float result : results) EXPECT_EQ(result, 0.0f);
}

TEST(ThreadPool, SetUpRunsOnceInEachWorker) {
  std::array<std::atomic<int>, 4> calls{};
  { ThreadPool pool({.threads = 4, .set_up = [&](int worker) { ++calls[static_cast<std::size_t>(worker)]; }}); }
  EXPECT_EQ(calls[0].load(), 0);   // the caller is not the pool's own thread
  for (std::size_t worker = 1; worker < 4; ++worker) EXPECT_EQ(calls[worker].load(), 1);
}

TEST(ThreadPool, PinnedWorkersStayOnTheirCpus) {
  const std::vector<int> order = CpuPlaces::of_this_thread().order();
  ASSERT_FALSE(order.empty());
  ThreadPool pool({.threads = 3, .cpus = order});
  std::array<std::atomic<int>, 3> seen{-1, -1, -1};   // the CPU of each worker; -2: it may use several
  std::atomic<int> inside{0};
  pool.for_each(3, [&](std::int64_t, int worker) {
    ++inside;
    while (inside.load() < 3) std::this_thread::yield();
    const std::vector<int> mine = CpuPlaces::of_this_thread().order();
    seen[static_cast<std::size_t>(worker)] = mine.size() == 1 ? mine[0] : -2;
  });
  for (std::size_t worker = 1; worker < 3; ++worker) EXPECT_EQ(seen[worker].load(), order[worker % order.size()]);
  EXPECT_EQ(seen[0].load(), order.size() == 1 ? order[0] : -2);   // the caller is left as it was
}

TEST(ThreadPool, WorksInAForkedChild) {
  if (kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer does not support threads after fork";
  auto pool = std::make_unique<ThreadPool>(ThreadPoolOptions{.threads = 3});
  run_and_count(*pool, 50);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);   // a hang ends the child, and the test fails
    std::atomic<int> inside{0};
    pool->for_each(3, [&](std::int64_t, int) {
      ++inside;
      while (inside.load() < 3) std::this_thread::yield();
    });
    pool.reset();
    _exit(inside.load() == 3 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  run_and_count(*pool, 50);
}

TEST(ThreadPool, ForkWhileBusyLeavesTheChildAFreePool) {
  if (kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer does not support threads after fork";
  ThreadPool pool({.threads = 2});
  std::atomic<bool> started{false}, finish{false};
  std::thread busy([&] {
    pool.for_each(2, [&](std::int64_t, int) {
      started = true;
      while (!finish) std::this_thread::yield();
    });
  });
  while (!started) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    std::atomic<int> inside{0};
    pool.for_each(2, [&](std::int64_t, int) {
      ++inside;
      while (inside.load() < 2) std::this_thread::yield();
    });
    _exit(inside.load() == 2 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  finish = true;
  busy.join();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// On one CPU a worker that looked for work would keep the caller waiting: each job would take as long as it looks.
TEST(ThreadPool, WorkerOnTheCallersCpuMakesRoom) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  constexpr int kSpin = 2000, kJobs = 50;
  double min = 1e18;
  {
    ThreadPool pool({.threads = 2, .spin_microseconds = kSpin});   // its worker inherits the one CPU
    for (int attempt = 0; attempt < 20 && min > kJobs * kSpin / 4; ++attempt) {
      const auto start = std::chrono::steady_clock::now();
      for (int job = 0; job < kJobs; ++job)   // parts that sleep let the other thread run
        pool.for_each(2, [](std::int64_t, int) noexcept { std::this_thread::sleep_for(std::chrono::microseconds(20)); });
      min = std::min(min, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
  }
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_LT(min, kJobs * kSpin / 4);
}

// Beside programs that take their CPUs, threads move each other; where they may run stays as it was.
TEST(ThreadPool, ThreadsThatWereMovedMayRunWhereTheyCould) {
  if (CpuPlaces::of_this_thread().order().size() < 2) GTEST_SKIP() << "needs two CPUs";
  const auto allowed = [](pid_t thread) {
    cpu_set_t set;
    EXPECT_EQ(sched_getaffinity(thread, sizeof set, &set), 0);
    return set;
  };
  const cpu_set_t mine = allowed(0);
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i)
    others.emplace_back([&] { while (!stop) {} });
  std::array<std::atomic<pid_t>, 3> numbers{};
  {
    ThreadPool pool({.threads = 3, .set_up = [&](int worker) { numbers[static_cast<std::size_t>(worker)] = gettid(); }});
    for (const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500); std::chrono::steady_clock::now() < until;)
      run_and_count(pool, 40);
    stop = true;
    for (auto& other : others) other.join();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));   // a move that was begun ends
    for (std::size_t worker = 0; worker < 3; ++worker) {
      const cpu_set_t now = allowed(worker == 0 ? 0 : numbers[worker].load());
      EXPECT_TRUE(CPU_EQUAL(&now, &mine)) << "worker " << worker << " may use " << CPU_COUNT(&now) << " of " << CPU_COUNT(&mine) << " CPUs";
    }
  }
}

// Workers have the state that the caller asked for, job by job; who asked for nothing has denormals flushed.
TEST(ThreadPool, WorkersKeepDenormalsWhereTheCallerDoes) {
  ThreadPool pool({.threads = 3});
  volatile float min = std::numeric_limits<float>::min();
  const auto halves = [&] {
    std::atomic<int> inside{0}, kept{0};
    pool.for_each(3, [&](std::int64_t, int) {
      kept += min / 2 > 0;
      ++inside;
      while (!kThreadSanitizer && inside.load() < 3) std::this_thread::yield();   // one part for each thread
    });
    return kept.load();
  };
  for (int repeat = 0; repeat < 20; ++repeat) {
    EXPECT_EQ(halves(), 0);
    {
      const FloatState keeps(Denormals::keep);
      EXPECT_EQ(halves(), 3);
      const FloatState flushes(Denormals::flush);
      EXPECT_EQ(halves(), 0);
    }
    EXPECT_EQ(halves(), 0);
  }
  EXPECT_GT(min / 2, 0) << "the caller's own state came back";
}

}  // namespace
}  // namespace tenfold
