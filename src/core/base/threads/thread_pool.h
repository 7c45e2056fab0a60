// ThreadPool: fork-join workers that spin shortly, then sleep. Starting a job neither allocates nor waits for a lock.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "base/threads/cpu_places.h"
#include "base/threads/float_state.h"
#include "base/threads/parallel.h"

namespace tenfold {

struct ThreadPoolOptions {
  int threads = 0;                                // callers included; 0: default_threads()
  int spin_microseconds = 300;                    // how long an idle worker looks for work before it sleeps
  std::vector<int> cpus = {};                     // worker w stays on cpus[w], counted round; empty: wherever the system puts it
  std::function<void(int worker)> set_up = {};    // run once in each worker as it starts; must not throw
};

// The thread that calls run() takes part as worker 0. While one thread is inside run(), another caller does all its parts by
// itself: same results, since parts never depend on workers. Usable in a forked child, where the workers are made anew.
// Each worker begins with its own stretch of the parts, so that the rows one step wrote are still in its cache in the next one.
class ThreadPool final : public Parallel {
 public:
  explicit ThreadPool(ThreadPoolOptions options = {});
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void run(std::int64_t parts, Function function, void* context) noexcept override;
  int workers() const noexcept override { return size_; }

 private:
  struct Start;
  // What the others know of a thread of a job.
  struct alignas(64) WorkerSlot {
    std::atomic<pid_t> thread{0};
    std::atomic<bool> inside{false};   // a worker's: between enter() and leave()
    std::atomic<bool> moving{false};   // someone moves it: where it may run is not what it was, and not for others to take for that
  };
  bool lock() noexcept;
  void start_workers() noexcept;
  void work_loop(int worker) noexcept;
  bool enter(int worker) noexcept;
  void leave(int worker) noexcept;
  void claim_parts(int worker) noexcept;
  bool claim(std::int64_t chunk) noexcept;
  void run_chunk(std::int64_t chunk, int worker) noexcept;
  void close() noexcept;
  bool in_the_way(int cpu) const noexcept;
  template <class Move>
  bool alone(int worker, Move move) noexcept;
  void leave_caller(int worker) noexcept;
  int bring_preempted_worker() noexcept;
  bool bring_preempted_caller(int worker) noexcept;
  void send_back() noexcept;
  void wait_for_work(int worker, std::uint32_t seen, std::chrono::steady_clock::time_point& moved) noexcept;

  // The gate: an open bit, a bit that says the caller sleeps on it, and the number of workers inside the job.
  static constexpr std::uint32_t kOpen = 1u << 31, kCallerSleeps = 1u << 30, kInside = kCallerSleeps - 1;

  ThreadPoolOptions options_;
  int size_ = 1;
  CpuPlaces places_;
  bool cores_suffice_ = false;                    // for a core to each thread
  std::vector<pthread_t> threads_;                // plain handles: a forked child drops them without touching dead threads
  std::unique_ptr<WorkerSlot[]> slots_;           // the caller's first
  std::uint32_t made_in_ = 0;                     // fork generation in which threads_ were started
  std::atomic<bool> stop_{false};

  alignas(64) std::atomic<std::uint32_t> owner_{0};   // 0: free; else the fork generation of the thread inside run()
  int brought_ = 0;                                   // the worker that the caller brought to its CPU last; 0: none
  std::chrono::steady_clock::time_point brought_at_{};
  alignas(64) std::atomic<std::int32_t> sleepers_{0};

  // The job, in one cache line, which is all that moves between CPUs when one begins. What is not atomic is written only while
  // the gate is closed and empty.
  alignas(64) std::atomic<std::uint32_t> jobs_{0};    // counts jobs; what sleeping workers wait on
  std::atomic<std::uint32_t> gate_{0};
  std::atomic<int> caller_cpu_{-1};                   // where the caller last began a job
  Denormals denormals_ = Denormals::flush;            // as the caller has it
  Function function_ = nullptr;
  void* context_ = nullptr;
  std::int64_t parts_ = 0;
  static constexpr int kWords = 4;
  std::atomic<std::uint64_t> claimed_[kWords] = {};   // a bit for each chunk of neighboring parts
};

}  // namespace tenfold
