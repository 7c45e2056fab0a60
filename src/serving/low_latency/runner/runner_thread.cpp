// RunnerThread: a pinned thread that walks over its ports and answers what waits there.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <thread>
#include <utility>

#include "base/threads/cpu_places.h"
#include "low_latency/machine/settings.h"
#include "low_latency/port/port.h"
#include "low_latency/runner/runner.h"

namespace tenfold {

using low_latency::now_ns;

struct RunnerThread::State {
  struct Place {
    LatencyRunner::State* runner;
    low_latency::PortSlot* port_slot;
  };
  RunnerThreadOptions options;
  std::vector<LatencyRunner::State*> runners;
  std::vector<std::shared_ptr<low_latency::PortSlot>> port_slots;  // kept alive
  std::vector<Place> places;
  std::shared_ptr<low_latency::Pulse> pulse = std::make_shared<low_latency::Pulse>();
  std::shared_ptr<low_latency::ParkingEvent> parking = std::make_shared<low_latency::ParkingEvent>();
  std::atomic<bool> stop{false};
  int id = 0;
  bool remote = false;  // other processes ask, too
  std::thread thread;

  ~State();
  void take(LatencyRunner::State& runner);
  void give_back();
  void set_up() const;
  void serve() noexcept;
  bool walk() noexcept;
  bool precompute() noexcept;
  void doze(std::int64_t& idle_since) noexcept;
};

namespace {

constexpr std::chrono::nanoseconds kNap = std::chrono::seconds(1);
constexpr std::chrono::nanoseconds kGlance = std::chrono::microseconds(50);  // other processes wake nobody

void relax() noexcept { __builtin_ia32_pause(); }

// Answers one request. The output goes where the asking thread will read it.
bool answer_one(LatencyRunner::State& runner, low_latency::PortSlot& port_slot) noexcept {
  if (port_slot.next.load(std::memory_order_relaxed)) {  // others asked for this slot
    low_latency::ServedRings* const next = port_slot.next.exchange(nullptr, std::memory_order_acq_rel);
    port_slot.left.store(std::exchange(port_slot.serving, next), std::memory_order_release);
  }
  if (!port_slot.serving) return false;
  low_latency::ServedRings& rings = *port_slot.serving;
  const std::byte* const message = rings.take.pop();
  if (!message) return false;
  low_latency::RequestHead head;
  std::memcpy(&head, message, sizeof head);
  std::byte* const to = rings.give.message();
  Answer answer = runner.answer(message + sizeof head, to + sizeof(low_latency::AnswerHead), head.due_ns);
  answer.id = head.id, answer.missing_rows = head.missing_rows;
  std::memcpy(to, &answer, sizeof answer);
  std::uint64_t dropped = 0;
  rings.give.push(WhenFull::drop_oldest, dropped);
  runner.expect_next();
  if (dropped != 0) rings.memory.head().answers_dropped.fetch_add(dropped, std::memory_order_relaxed);
  return true;
}

}  // namespace

void RunnerThread::State::take(LatencyRunner::State& runner) {
  const std::lock_guard lock(runner.mutex);
  require(!runner.has_thread.exchange(true), ErrorKind::invalid_argument, "a thread has the LatencyRunner already");
  runners.push_back(&runner);
  runner.pulse = pulse;
  for (const auto& port_slot : runner.port_slots) {
    port_slot->parkings.push_back(parking);
    port_slot->parking.store(parking.get(), std::memory_order_release);
    low_latency::serve(*port_slot, true);
    port_slots.push_back(port_slot);
    places.push_back({&runner, port_slot.get()});
    remote |= port_slot->remote;
  }
}

void RunnerThread::State::give_back() {
  for (LatencyRunner::State* runner : runners) {
    const std::lock_guard lock(runner->mutex);
    runner->pulse.reset();
    runner->has_thread.store(false, std::memory_order_release);
  }
}

RunnerThread::State::~State() {
  for (LatencyRunner::State* runner : runners) {  // what comes now is rejected
    const std::lock_guard lock(runner->mutex);
    for (const auto& port_slot : runner->port_slots) low_latency::serve(*port_slot, false);
  }
  stop.store(true, std::memory_order_release);
  parking->wake();
  if (thread.joinable()) thread.join();
  give_back();
}

void RunnerThread::State::set_up() const {
  ::pthread_setname_np(::pthread_self(), options.name.substr(0, 15).c_str());
  if (options.cpu >= 0)
    require(stay_on({options.cpu}), ErrorKind::invalid_argument, "this process may not use CPU ", options.cpu,
            ": `taskset -cp ", ::getpid(), "` shows those that it may use");
  if (options.priority == 0) return;
  const std::string why = low_latency::use_real_time(options.priority);
  require(why.empty(), ErrorKind::invalid_argument, "the system refuses priority ", options.priority, " (SCHED_FIFO): ", why, "; ",
          low_latency::real_time_command(options.priority));
}

bool RunnerThread::State::walk() noexcept {
  bool any = false;
  for (const Place& place : places) any |= answer_one(*place.runner, *place.port_slot);
  return any;
}

// What comes next is computed only while no request waits, and requests are looked for behind each LatencyRunner's.
bool RunnerThread::State::precompute() noexcept {
  return std::any_of(runners.begin(), runners.end(), [](LatencyRunner::State* runner) { return runner->precompute_next(); });
}

// A port that asks sees that we sleep, or we see its request.
void RunnerThread::State::doze(std::int64_t& idle_since) noexcept {
  pulse->asleep.store(true, std::memory_order_release);
  parking->asleep.store(1, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!walk() && !stop.load(std::memory_order_acquire)) parking->sleep(remote ? kGlance : kNap);
  parking->asleep.store(0, std::memory_order_seq_cst);
  idle_since = now_ns();
  pulse->beat_ns.store(idle_since, std::memory_order_release);
  pulse->asleep.store(false, std::memory_order_release);
}

void RunnerThread::State::serve() noexcept {
  constexpr int kLooks = 64;   // between two looks at the clock while idle
  std::int64_t idle_since = now_ns(), warm_at = idle_since;
  for (int looks = 0;; ++looks) {
    const bool stopping = stop.load(std::memory_order_acquire);   // before the walk, so that what was taken is answered
    if (walk() || (!stopping && precompute())) {
      idle_since = now_ns(), looks = 0;
      pulse->beat_ns.store(idle_since, std::memory_order_release);
      continue;
    }
    if (stopping) return;
    relax();
    if (looks % kLooks != 0) continue;
    const std::int64_t now = now_ns();
    pulse->beat_ns.store(now, std::memory_order_release);
    if (options.keep_warm.count() > 0 && now - std::max(idle_since, warm_at) >= options.keep_warm.count()) {
      for (LatencyRunner::State* runner : runners) runner->keep_warm();
      warm_at = now_ns();
    }
    if (options.spin.count() >= 0 && now - idle_since >= options.spin.count()) doze(idle_since);
  }
}

RunnerThread::RunnerThread(std::vector<LatencyRunner*> runners, RunnerThreadOptions options) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.options = std::move(options);
  require(!runners.empty(), ErrorKind::invalid_argument, "a RunnerThread needs a LatencyRunner");
  require(s.options.cpu >= -1, ErrorKind::invalid_argument, "cpu is ", s.options.cpu, ", expected a CPU's number, or -1 for any");
  require(s.options.priority >= 0, ErrorKind::invalid_argument, "priority is ", s.options.priority, ", expected 1 to 99, or 0");
  require(s.options.keep_warm.count() >= 0, ErrorKind::invalid_argument, "keep_warm is ", s.options.keep_warm.count(),
          " ns, expected 0 or more");
  s.pulse->beat_ns = now_ns();
  for (LatencyRunner* runner : runners) {
    require(runner != nullptr, ErrorKind::invalid_argument, "a LatencyRunner is null");
    s.take(runner->state());
  }
  std::promise<void> ready;
  std::future<void> is_ready = ready.get_future();
  s.thread = std::thread([&s, ready = std::move(ready)]() mutable {
    try {
      s.id = static_cast<int>(::syscall(SYS_gettid));
      s.set_up();
      ready.set_value();
    } catch (...) {
      ready.set_exception(std::current_exception());
      return;
    }
    if (s.options.begin) s.options.begin();
    s.serve();
    s.pulse->ended.store(true, std::memory_order_release);
  });
  is_ready.get();
}

RunnerThread::~RunnerThread() = default;

int RunnerThread::id() const noexcept { return state_->id; }

}  // namespace tenfold
