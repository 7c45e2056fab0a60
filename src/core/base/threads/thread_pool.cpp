// The pool's protocol: a job is published by opening a gate; workers enter while it is open and claim parts: those of their own
// stretch in order, then what others have left, from the end. The caller shuts the gate when no part is left and waits only for
// the workers that are inside. A worker that wakes late finds the gate shut, so a short job never waits for a sleeping thread.
#include "base/threads/thread_pool.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <climits>
#include <cstring>
#include <new>
#include <utility>

#include "base/threads/cpu_count.h"
#include "base/threads/fork.h"
#include "base/threads/preempted.h"

namespace tenfold {
namespace {

// How long another thread of the job may keep one waiting before this looks whether it runs, and how long it looks.
constexpr int kPatienceMicroseconds = 60, kLookMicroseconds = 20;
constexpr std::chrono::microseconds kBackAfter{150};

// This thread's number; asking the system costs too much to do so for each job.
pid_t this_thread() noexcept {
  thread_local pid_t number = 0;
  thread_local std::uint32_t read_in = 0;
  const std::uint32_t generation = fork_generation();
  if (read_in != generation) number = gettid(), read_in = generation;
  return number;
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}
void futex_wake(std::atomic<std::uint32_t>& word, int count) noexcept {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

// Calls `done` until it is true, or the time is over, or `stop`, asked now and then, is true.
template <class Done, class Stop>
bool spin(int microseconds, Done done, Stop stop) noexcept {
  if (done()) return true;
  const auto start = std::chrono::steady_clock::now();
  const auto limit = std::chrono::microseconds(microseconds);
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      _mm_pause();
    }
    if (stop()) return false;
  } while (std::chrono::steady_clock::now() - start < limit);
  return false;
}

}  // namespace

struct ThreadPool::Start {
  ThreadPool* pool;
  int worker;
};

ThreadPool::ThreadPool(ThreadPoolOptions options) : options_(std::move(options)), places_(CpuPlaces::of_this_thread()) {
  count_forks();
  size_ = std::clamp(options_.threads > 0 ? options_.threads : default_threads(), 1, kMaxWorkers);
  cores_suffice_ = size_ <= places_.cores();
  threads_.reserve(static_cast<std::size_t>(size_));
  slots_ = std::make_unique<WorkerSlot[]>(static_cast<std::size_t>(size_));
  start_workers();
}

ThreadPool::~ThreadPool() {
  if (made_in_ != fork_generation()) return;   // in a forked child there is nobody to join
  stop_.store(true);
  jobs_.fetch_add(1);
  futex_wake(jobs_, INT_MAX);
  for (pthread_t thread : threads_) pthread_join(thread, nullptr);
}

// Workers get no signals: the host program's handlers run on its own threads. A thread that cannot be started is no error:
// the caller does the work that others do not claim.
void ThreadPool::start_workers() noexcept {
  threads_.clear();
  made_in_ = fork_generation();
  gate_.store(0);
  sleepers_.store(0);
  brought_ = 0;
  for (int worker = 0; worker < size_; ++worker) slots_[worker].inside.store(false), slots_[worker].moving.store(false);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int worker = 1; worker < size_; ++worker) {
    auto* start = new (std::nothrow) Start{this, worker};
    pthread_t thread;
    const auto body = [](void* argument) -> void* {
      const Start mine = *static_cast<Start*>(argument);
      delete static_cast<Start*>(argument);
      mine.pool->work_loop(mine.worker);
      return nullptr;
    };
    if (start == nullptr || pthread_create(&thread, nullptr, body, start) != 0) {
      delete start;
      break;
    }
    threads_.push_back(thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// A lock held at the moment of a fork belongs to a thread that the child does not have: an older generation counts as free.
bool ThreadPool::lock() noexcept {
  const std::uint32_t generation = fork_generation();
  std::uint32_t owner = owner_.load(std::memory_order_relaxed);
  if (owner == generation) return false;
  return owner_.compare_exchange_strong(owner, generation, std::memory_order_acquire);
}

void ThreadPool::run(std::int64_t parts, Function function, void* context) noexcept {
  const FloatState state(FloatState::requested());
  if (parts <= 1 || size_ == 1 || !lock()) {
    for (std::int64_t part = 0; part < parts; ++part) function(context, part, 0);
    return;
  }
  if (made_in_ != fork_generation()) start_workers();
  denormals_ = FloatState::requested();
  function_ = function;
  context_ = context;
  parts_ = parts;
  for (auto& word : claimed_) word.store(0, std::memory_order_relaxed);
  caller_cpu_.store(sched_getcpu(), std::memory_order_relaxed);
  slots_[0].thread.store(this_thread(), std::memory_order_relaxed);
  if (brought_ != 0) send_back();
  gate_.store(kOpen, std::memory_order_release);
  jobs_.fetch_add(1);   // sequentially consistent with sleepers_: a worker going to sleep sees the job, or is seen here
  if (sleepers_.load() > 0) futex_wake(jobs_, static_cast<int>(std::min<std::int64_t>(parts - 1, INT_MAX)));
  claim_parts(0);
  close();
  owner_.store(0, std::memory_order_release);
}

bool ThreadPool::claim(std::int64_t chunk) noexcept {
  std::atomic<std::uint64_t>& word = claimed_[chunk / 64];
  const std::uint64_t bit = std::uint64_t{1} << (chunk % 64);
  return !(word.load(std::memory_order_relaxed) & bit) && !(word.fetch_or(bit, std::memory_order_relaxed) & bit);
}

void ThreadPool::run_chunk(std::int64_t chunk, int worker) noexcept {
  const std::int64_t chunks = std::min<std::int64_t>(parts_, 64 * kWords);
  const std::int64_t last = (chunk + 1) * parts_ / chunks;
  for (std::int64_t part = chunk * parts_ / chunks; part < last; ++part) function_(context_, part, worker);
}

void ThreadPool::claim_parts(int worker) noexcept {
  const std::int64_t chunks = std::min<std::int64_t>(parts_, 64 * kWords), own_end = (worker + 1) * chunks / size_;
  for (std::int64_t chunk = worker * chunks / size_; chunk < own_end; ++chunk)
    if (claim(chunk)) run_chunk(chunk, worker);
  for (std::int64_t word = (chunks - 1) / 64; word >= 0; --word) {
    const std::int64_t bits = std::min<std::int64_t>(chunks - word * 64, 64);
    for (;;) {
      const std::uint64_t free = ~claimed_[word].load(std::memory_order_relaxed) & (~std::uint64_t{0} >> (64 - bits));
      if (free == 0) break;
      const std::int64_t chunk = word * 64 + 63 - std::countl_zero(free);
      if (claim(chunk)) run_chunk(chunk, worker);
    }
  }
}

// Calls `move` unless another thread moves that worker (0: the caller) already: it restores where the worker may run, which it has to
// find as it was. The other may itself wait for a CPU, so nobody waits for it.
template <class Move>
bool ThreadPool::alone(int worker, Move move) noexcept {
  std::atomic<bool>& moving = slots_[worker].moving;
  if (moving.exchange(true, std::memory_order_acquire)) return false;
  const bool moved = move();
  moving.store(false, std::memory_order_release);
  return moved;
}

// A worker inside that has stood still is brought to this CPU, for which the caller has no use meanwhile; 0 if there is none.
int ThreadPool::bring_preempted_worker() noexcept {
  std::int64_t before[kMaxWorkers];
  const auto ran = [&](int w) { return slots_[w].inside.load(std::memory_order_acquire) ? run_time(slots_[w].thread.load()) : -1; };
  for (int w = 1; w < size_; ++w) before[w] = ran(w);
  if (spin(kLookMicroseconds, [&] { return (gate_.load(std::memory_order_acquire) & kInside) == 0; }, [] { return false; })) return 0;
  for (int w = 1; w < size_; ++w)
    if (before[w] >= 0 && ran(w) == before[w] && alone(w, [&] { return bring_here(slots_[w].thread.load()); })) return w;
  return 0;
}

// Shuts the gate and waits until the workers inside have left. Sleeps where one of them was preempted, for then it has this CPU.
void ThreadPool::close() noexcept {
  const auto all_left = [&] { return gate_.load(std::memory_order_acquire) == 0; };
  const int patience = std::min(options_.spin_microseconds, kPatienceMicroseconds);
  gate_.fetch_and(~kOpen, std::memory_order_acq_rel);
  int brought = 0;
  for (int waited = 0; brought == 0 && waited <= options_.spin_microseconds; waited += patience + kLookMicroseconds) {
    if (spin(patience, all_left, [] { return false; })) return;
    if (options_.cpus.empty()) brought = bring_preempted_worker();
  }
  for (std::uint32_t gate = gate_.fetch_or(kCallerSleeps) | kCallerSleeps; (gate & kInside) != 0; gate = gate_.load())
    futex_wait(gate_, gate);
  if (brought != 0) brought_ = brought, brought_at_ = std::chrono::steady_clock::now();
}

// What took a worker's CPU has often gone when the worker is still queued behind the caller.
void ThreadPool::send_back() noexcept {
  if (std::chrono::steady_clock::now() - brought_at_ < kBackAfter) return;
  leave_caller(std::exchange(brought_, 0));
}

bool ThreadPool::enter(int worker) noexcept {
  std::uint32_t gate = gate_.load(std::memory_order_relaxed);
  while (gate & kOpen)
    if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
      slots_[worker].inside.store(true, std::memory_order_release);
      return true;
    }
  return false;
}

void ThreadPool::leave(int worker) noexcept {
  slots_[worker].inside.store(false, std::memory_order_relaxed);
  const std::uint32_t before = gate_.fetch_sub(1, std::memory_order_acq_rel);
  if ((before & kCallerSleeps) && (before & kInside) == 1) futex_wake(gate_, 1);
}

void ThreadPool::work_loop(int worker) noexcept {
  FloatState::set();
  slots_[worker].thread.store(this_thread());
  if (!options_.cpus.empty()) stay_on({options_.cpus[static_cast<std::size_t>(worker) % options_.cpus.size()]});
  if (options_.set_up) options_.set_up(worker);
  std::chrono::steady_clock::time_point moved{};
  for (;;) {
    const std::uint32_t seen = jobs_.load();   // before looking at the gate: a job opened after the look then ends the wait
    if (stop_.load()) return;
    if (enter(worker)) {
      if (FloatState::requested() != denormals_) FloatState::set(denormals_);
      claim_parts(worker);
      leave(worker);
    }
    wait_for_work(worker, seen, moved);
  }
}

// On the caller's CPU, or on its core while there are enough of them.
bool ThreadPool::in_the_way(int cpu) const noexcept {
  const int caller = caller_cpu_.load(std::memory_order_relaxed);
  return cpu >= 0 && caller >= 0 && (cpu == caller || (cores_suffice_ && places_.core_of(cpu) == places_.core_of(caller)));
}

// Moves a worker to CPUs where it is not in the way, if it may use any; it may come back.
void ThreadPool::leave_caller(int worker) noexcept {
  alone(worker, [&] {
    const pid_t thread = slots_[worker].thread.load();
    cpu_set_t mine, others;
    if (sched_getaffinity(thread, sizeof mine, &mine) != 0) return false;   // more CPUs than the set can name
    others = mine;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (in_the_way(cpu)) CPU_CLR(static_cast<std::size_t>(cpu), &others);
    return CPU_COUNT(&others) > 0 && move_once(thread, others, mine);
  });
}

// The same as for a worker, for a caller that has begun a job and not come back to it. It cannot go away while this worker is inside.
bool ThreadPool::bring_preempted_caller(int worker) noexcept {
  return alone(0, [&] {
    if (!enter(worker)) return false;
    const pid_t caller = slots_[0].thread.load(std::memory_order_relaxed);
    const std::int64_t before = run_time(caller);
    const auto came_back = [&] { return (gate_.load(std::memory_order_relaxed) & kOpen) == 0; };
    const auto stood_still = [&] { return before >= 0 && run_time(caller) == before; };
    const bool brought = !spin(kLookMicroseconds, came_back, [] { return false; }) && stood_still() && bring_here(caller);
    if (brought) caller_cpu_.store(sched_getcpu(), std::memory_order_relaxed);
    leave(worker);
    return brought;
  });
}

// A worker on the caller's CPU keeps it from running: the scheduler puts both there while another program has the worker's CPU, and
// each job would take as long as the spin. It goes to another CPU, for the scheduler may leave both for many milliseconds; not often,
// in case the others are taken, and sleeps. On another hyperthread of the caller's core it only slows it, and may look on.
void ThreadPool::wait_for_work(int worker, std::uint32_t seen, std::chrono::steady_clock::time_point& moved) noexcept {
  const auto new_job = [&] { return jobs_.load(std::memory_order_relaxed) != seen; };
  const auto on_callers_cpu = [&] {
    const int cpu = sched_getcpu();
    return cpu >= 0 && cpu == caller_cpu_.load(std::memory_order_relaxed);
  };
  if (options_.cpus.empty() && in_the_way(sched_getcpu())) {
    const auto now = std::chrono::steady_clock::now();
    if (now - moved > std::chrono::milliseconds(1)) moved = now, leave_caller(worker);
  }
  const int patience = std::min(options_.spin_microseconds, kPatienceMicroseconds);
  if (!on_callers_cpu()) {
    if (spin(patience, new_job, on_callers_cpu)) return;
    if (options_.cpus.empty() && bring_preempted_caller(worker)) leave_caller(worker);
    if (!on_callers_cpu() && spin(options_.spin_microseconds - patience, new_job, on_callers_cpu)) return;
  }
  sleepers_.fetch_add(1);
  while (jobs_.load() == seen) futex_wait(jobs_, seen);
  sleepers_.fetch_sub(1);
}

}  // namespace tenfold
