// The hot path asks the system for nothing: threads under a seccomp filter run, push and poll; mallocs and page faults are counted.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "low_latency/ring/messages.h"
#include "low_latency/sliding_for_tests.h"

#if defined(__has_feature)  // clang's way to ask
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COUNTS_MALLOCS 0
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTS_MALLOCS 0
#endif
#ifndef COUNTS_MALLOCS
#define COUNTS_MALLOCS 1
#endif

namespace {
thread_local std::uint64_t mallocs = 0;   // of this thread
std::atomic<std::uint64_t> mallocs_of_all = 0;
}  // namespace

#if COUNTS_MALLOCS
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t bytes) { return ++mallocs, mallocs_of_all.fetch_add(1, std::memory_order_relaxed), __libc_malloc(bytes); }
void* calloc(std::size_t n, std::size_t bytes) {
  return ++mallocs, mallocs_of_all.fetch_add(1, std::memory_order_relaxed), __libc_calloc(n, bytes);
}
void* realloc(void* p, std::size_t bytes) {
  return ++mallocs, mallocs_of_all.fetch_add(1, std::memory_order_relaxed), __libc_realloc(p, bytes);
}
void* aligned_alloc(std::size_t a, std::size_t bytes) {
  return ++mallocs, mallocs_of_all.fetch_add(1, std::memory_order_relaxed), __libc_memalign(a, bytes);
}
}
#endif

namespace tenfold {
namespace {

using namespace low_latency;

// TENFOLD_INFERENCES=1000000 is the long form.
int how_many() {
  const char* const text = std::getenv("TENFOLD_INFERENCES");
  return text ? std::atoi(text) : 100000;
}
constexpr int kRight = 0, kWrong = 9;

// From here on this thread may end the process, and nothing else.
void allow_nothing() {
  static const sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  static const sock_fprog program{4, const_cast<sock_filter*>(code)};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) ::_exit(77);
}
[[noreturn]] void end(int code) {
  ::syscall(SYS_exit_group, code);
  __builtin_unreachable();
}

// Runs `act` in a process of its own, which it ends by end().
template <class Act>
void expect_right_in_a_process(const Act& act) {
  if (!COUNTS_MALLOCS) GTEST_SKIP() << "a sanitizer makes system calls of its own";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    act();
    end(kWrong);
  }
  int state = 0;
  ASSERT_EQ(::waitpid(child, &state, 0), child);
  if (WIFEXITED(state) && WEXITSTATUS(state) == 77) GTEST_SKIP() << "the system refuses seccomp filters";
  ASSERT_FALSE(WIFSIGNALED(state)) << "a system call was made: signal " << WTERMSIG(state) << " (31 is SIGSYS)";
  EXPECT_EQ(WEXITSTATUS(state), kRight) << "answers, or the number of mallocs, were wrong";
}

bool right(const float* y, const std::vector<double>& truth) {
  return std::abs(y[0] - truth[0]) < 1e-3 && std::abs(y[1] - truth[1]) < 1e-3;
}

TEST(NoSystemCalls, TheTestCanFail) {
  const pid_t child = ::fork();
  if (child == 0) {
    allow_nothing();
    ::getppid();
    end(kRight);
  }
  int state = 0;
  ASSERT_EQ(::waitpid(child, &state, 0), child);
  if (WIFEXITED(state) && WEXITSTATUS(state) == 77) GTEST_SKIP() << "the system refuses seccomp filters";
  EXPECT_TRUE(WIFSIGNALED(state) && WTERMSIG(state) == SIGSYS);
}

TEST(NoSystemCalls, Inferences) {
  expect_right_in_a_process([] {
    const ToyCnn cnn;
    LatencyRunner runner(cnn.engine(), {.deadline = std::chrono::seconds(10)});
    const std::vector<float> x = cnn.input(5);
    const std::vector<double> truth = cnn.answer(x.data());
    alignas(64) float y[16];
    const int runs = how_many();
    allow_nothing();
    const std::uint64_t before = mallocs;
    for (int i = 0; i < runs; ++i)
      if (!runner.infer(x.data(), y).status || !right(y, truth)) end(kWrong);
    end(mallocs == before ? kRight : kWrong);
  });
}

TEST(NoSystemCalls, PushesAndPolls) {
  expect_right_in_a_process([] {
    const ToyCnn cnn;
    LatencyRunner runner(cnn.engine());
    RunnerPort port = runner.open_port({.slots = 64});
    const std::vector<float> x = cnn.input(5);
    const std::vector<double> truth = cnn.answer(x.data());
    alignas(64) float y[16];
    const auto runs = static_cast<std::uint64_t>(how_many() / 5);
    RunnerThread thread({&runner}, {.begin = allow_nothing});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    allow_nothing();
    const std::uint64_t before = mallocs_of_all;
    Answer a;
    for (std::uint64_t sent = 0, got = 0; got < runs;) {
      if (sent < runs && sent < got + 64) sent += port.submit(sent, x.data());
      if (!port.poll(a, y)) continue;
      if (a.id != got++ || !a.status || !right(y, truth)) end(kWrong);
    }
    end(mallocs_of_all == before ? kRight : kWrong);
  });
}

// Windows that slide, now and then not by one row; by the caller's precompute(), and by a thread's own.
TEST(NoSystemCalls, RowsComputedEarly) {
  for (const bool by_thread : {false, true})
    expect_right_in_a_process([by_thread] {
      LatencyRunner runner(SlidingLstm::engine("x:1")), whole(SlidingLstm::engine(""));
      std::vector<std::vector<float>> windows;
      std::vector<std::vector<float>> expected;
      for (int i = 0; i < 64; ++i) {
        windows.push_back(sliding_window(0, i % 16 == 15 ? 500 : i));
        expected.emplace_back(SlidingLstm::kUnits);
        if (!whole.infer(windows.back().data(), expected.back().data()).status) end(kWrong);
      }
      const auto right = [&](std::size_t i, const float* y) {
        for (int u = 0; u < SlidingLstm::kUnits; ++u)
          if (!(std::abs(y[u] - expected[i][static_cast<std::size_t>(u)]) <= 1e-6f)) return false;
        return true;
      };
      float y[SlidingLstm::kUnits];
      // One at a time, two threads that may not yield wait for each other's slice of a busy CPU.
      const auto runs = static_cast<std::size_t>(how_many() / (by_thread ? 200 : 5));
      RunnerPort port = runner.open_port({.slots = 1});
      std::unique_ptr<RunnerThread> thread;
      if (by_thread)
        thread = std::make_unique<RunnerThread>(std::vector<LatencyRunner*>{&runner}, RunnerThreadOptions{.begin = allow_nothing});
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      allow_nothing();
      const std::uint64_t before = mallocs_of_all;
      Answer a;
      for (std::size_t n = 0, i = 0; n < runs; ++n, i = n % windows.size()) {
        if (by_thread) {
          if (!port.submit(n, windows[i].data())) end(kWrong);
          while (!port.poll(a, y)) {
          }
          for (const std::int64_t until = a.ended_ns + 20'000; now_ns() < until;) {
          }  // time for the next window's rows
        } else {
          if (!runner.precompute(windows[n % 5 == 0 ? 3 : i].data())) end(kWrong);
          a = runner.infer(windows[i].data(), y);
        }
        if (!a.status || !right(i, y)) end(kWrong);
      }
      const RunnerCounts c = runner.counts();
      if (c.full_recompute == 0 || c.full_recompute >= runs) end(kWrong);  // both ways were gone
      end(mallocs_of_all == before ? kRight : kWrong);
    });
}

TEST(NoSystemCalls, NoPageFaults) {
  if (!COUNTS_MALLOCS) GTEST_SKIP() << "a sanitizer touches memory of its own";
  const ToyCnn cnn;
  LatencyRunner runner(cnn.engine());
  const std::vector<float> x = cnn.input(5);
  alignas(64) float y[16];
  rusage before{}, after{};
  for (int i = 0; i < 1000; ++i) runner.infer(x.data(), y);
  ASSERT_EQ(::getrusage(RUSAGE_THREAD, &before), 0);
  for (int i = 0; i < how_many(); ++i) runner.infer(x.data(), y);
  ASSERT_EQ(::getrusage(RUSAGE_THREAD, &after), 0);
  EXPECT_EQ(after.ru_minflt - before.ru_minflt, 0);
  EXPECT_EQ(after.ru_majflt - before.ru_majflt, 0);
}

}  // namespace
}  // namespace tenfold
