// Open loops: in one thread, through rings, and without work.
#include "tenfold/open_loop.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "low_latency/machine/thread_use.h"
#include "low_latency/ring/messages.h"
#include "low_latency/runner/runner.h"

namespace tenfold {

using low_latency::now_ns;

namespace {

constexpr std::size_t kSlices = 240;

// The times at which requests are due: first those that warm, then those that count.
class Schedule {
 public:
  explicit Schedule(const OpenLoopOptions& o) : distance_(1e9 / o.rate), poisson_(o.arrivals == Arrivals::poisson), state_(o.seed) {
    require(o.rate > 0 && std::isfinite(o.rate) && o.rate <= 1e8, ErrorKind::invalid_argument, "the rate is ", o.rate,
            " requests a second, expected more than 0 and at most 1e8");
    require(o.duration.count() > 0 && o.warm_up.count() >= 0, ErrorKind::invalid_argument, "an open loop needs a duration above 0");
  }
  // They begin a millisecond from now: what is done between the two parts delays no request.
  void begin(std::chrono::nanoseconds duration, bool counts) noexcept {
    counts_ = counts;
    begin_ = at_ = static_cast<double>(now_ns()) + 1e6;
    end_ = begin_ + static_cast<double>(duration.count());
  }
  std::int64_t due() const noexcept { return static_cast<std::int64_t>(at_); }
  bool over() const noexcept { return at_ >= end_; }
  void next() noexcept { at_ += poisson_ ? -std::log(uniform()) * distance_ : distance_; }
  bool counts(std::int64_t due_ns) const noexcept { return counts_ && due_ns >= start(); }
  std::int64_t start() const noexcept { return static_cast<std::int64_t>(begin_); }
  std::size_t slice(std::int64_t due_ns) const noexcept {
    const double share = (static_cast<double>(due_ns) - begin_) / (end_ - begin_);
    return std::min(static_cast<std::size_t>(std::max(share, 0.0) * kSlices), kSlices - 1);
  }

 private:
  double uniform() noexcept {   // above 0, at most 1: splitmix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u, z = (z ^ z >> 27) * 0x94d049bb133111ebu, z ^= z >> 31;
    return (static_cast<double>(z >> 11) + 1) * 0x1p-53;
  }
  const double distance_;
  const bool poisson_;
  std::uint64_t state_;
  bool counts_ = false;
  double begin_ = 0, at_ = 0, end_ = 0;
};

// Waits until a request is due; false: it was due already. `idle` is called meanwhile.
template <class Idle>
bool await(std::int64_t due_ns, const OpenLoopOptions& options, const Idle& idle) noexcept {
  std::int64_t now = now_ns();
  if (now >= due_ns) return false;
  if (const std::int64_t spin = options.spin.count(); spin >= 0 && due_ns - now > spin) {
    const std::int64_t until = due_ns - spin;
    const timespec at{until / 1000000000, until % 1000000000};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
  }
  while ((now = now_ns()) < due_ns) {
    idle(now);
    __builtin_ia32_pause();
  }
  return true;
}

// What is kept of one answer; nothing is allocated.
class Books {
 public:
  explicit Books(const Schedule& schedule) : schedule_(schedule) { result_.slices.resize(kSlices); }
  void request(std::int64_t due_ns, bool in_time) noexcept {
    if (!schedule_.counts(due_ns)) return;
    ++result_.requests;
    if (!in_time) ++result_.late_requests;
  }
  void note(const Answer& a, std::int64_t there_ns) noexcept {
    if (!schedule_.counts(a.due_ns)) return;
    const std::int64_t response = there_ns - a.due_ns;
    result_.response.record(response), result_.service.record(a.ended_ns - a.started_ns);
    ++result_.answered;
    result_.failed += !a.status, result_.late += a.late, result_.not_finite += a.not_finite;
    result_.late_start += a.late_start, result_.full_recompute += a.full_recompute;
    OpenLoopSlice& slice = result_.slices[schedule_.slice(a.due_ns)];
    slice.worst_ns = std::max(slice.worst_ns, response), slice.sum_ns += response, ++slice.count;
    last_ns_ = there_ns;
  }
  OpenLoopResult close(const low_latency::ThreadUse& before, const low_latency::ThreadUse& after) {
    result_.seconds = static_cast<double>(last_ns_ - schedule_.start()) / 1e9;
    result_.dropped = result_.requests - result_.answered;
    const bool known = before.known && after.known;
    result_.page_faults = known ? after.page_faults - before.page_faults : -1;
    result_.forced_switches = known ? after.forced_switches - before.forced_switches : -1;
    return std::move(result_);
  }

 private:
  const Schedule& schedule_;
  OpenLoopResult result_;
  std::int64_t last_ns_ = 0;
};

int this_thread() { return static_cast<int>(::syscall(SYS_gettid)); }

void check_inputs(const std::vector<const void*>& inputs) {
  require(!inputs.empty() && std::find(inputs.begin(), inputs.end(), nullptr) == inputs.end(), ErrorKind::invalid_argument,
          "a loop needs an input, and none may be null");
}

void expect_free(const LatencyRunner& runner) {
  require(!runner.state().has_thread.load(std::memory_order_acquire), ErrorKind::invalid_argument,
          "a RunnerThread has the LatencyRunner: ask it through a port");
}

// Both parts of a loop, whose requests are made by `ask(due)` and whose waiting is filled by `idle(now)`. `thread` is the
// one that computes.
template <class Send, class Idle, class End>
OpenLoopResult loop(const OpenLoopOptions& options, int thread, const Send& send, const Idle& idle, const End& end) {
  Schedule schedule(options);
  Books books(schedule);
  const auto part = [&](std::chrono::nanoseconds duration, bool counts) {
    for (schedule.begin(duration, counts); !schedule.over() && !options.token.cancelled(); schedule.next()) {
      const std::int64_t due = schedule.due();
      books.request(due, await(due, options, [&](std::int64_t now) { idle(books, now); }));
      send(books, due);
    }
  };
  part(options.warm_up, false);
  const low_latency::ThreadUse before = low_latency::use_of_thread(thread);
  part(options.duration, true);
  end(books);
  return books.close(before, low_latency::use_of_thread(thread));
}

}  // namespace

OpenLoopResult run_open_loop(LatencyRunner& runner, const std::vector<const void*>& inputs, const OpenLoopOptions& options) {
  check_inputs(inputs), expect_free(runner);
  std::vector<std::byte> output(static_cast<std::size_t>(runner.output_bytes()));
  std::size_t next = 0;
  std::int64_t last = now_ns();
  const auto send = [&](Books& books, std::int64_t due) noexcept {
    const Answer a = runner.infer(inputs[next], output.data(), due);
    if (++next == inputs.size()) next = 0;
    books.note(a, a.ended_ns);
    runner.precompute(inputs[next]);
    last = a.ended_ns;
  };
  const auto idle = [&](Books&, std::int64_t now) noexcept {
    if (options.keep_warm.count() > 0 && now - last > options.keep_warm.count()) runner.keep_warm(), last = now_ns();
  };
  return loop(options, this_thread(), send, idle, [](Books&) {});
}

OpenLoopResult run_idle_loop(const OpenLoopOptions& options) {
  const auto nothing = [](Books& books, std::int64_t due) noexcept {
    const std::int64_t now = now_ns();
    books.note({.due_ns = due, .started_ns = now, .ended_ns = now}, now);
  };
  return loop(
      options, this_thread(), nothing, [](Books&, std::int64_t) {}, [](Books&) {});
}

OpenLoopResult run_open_loop(RunnerPort& port, const RunnerThread& thread, const std::vector<const void*>& inputs,
                             const OpenLoopOptions& options) {
  check_inputs(inputs);
  std::uint64_t sent = 0, fetched = 0;
  std::size_t next = 0;
  const auto fetch = [&](Books& books, std::int64_t now) noexcept {
    for (Answer a; port.poll(a, nullptr); ++fetched) books.note(a, std::max(now, a.ended_ns));
  };
  const auto send = [&](Books& books, std::int64_t due) noexcept {
    sent += port.submit(sent, inputs[next], due);
    if (++next == inputs.size()) next = 0;
    fetch(books, now_ns());
  };
  const auto end = [&](Books& books) noexcept {  // a second for those that are still under way
    for (const std::int64_t until = now_ns() + 1'000'000'000; fetched < sent && now_ns() < until;) fetch(books, now_ns());
  };
  return loop(options, thread.id(), send, fetch, end);
}

double run_closed_loop(LatencyRunner& runner, const std::vector<const void*>& inputs, std::chrono::nanoseconds duration) {
  check_inputs(inputs), expect_free(runner);
  require(duration.count() > 0, ErrorKind::invalid_argument, "a closed loop needs a duration above 0");
  std::vector<std::byte> output(static_cast<std::size_t>(runner.output_bytes()));
  std::uint64_t done = 0;
  const std::int64_t start = now_ns();
  std::int64_t now = start;
  for (; now - start < duration.count(); ++done) now = runner.infer(inputs[done % inputs.size()], output.data()).ended_ns;
  return static_cast<double>(done) / (static_cast<double>(now - start) / 1e9);
}

}  // namespace tenfold
