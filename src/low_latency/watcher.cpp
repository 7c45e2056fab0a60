// The watcher: tells why rungs were left, tries them aside, and frees sets that nobody uses any more.
#include "low_latency/runner.h"
#include "tenfold/device_array.h"
#include "tenfold/device_error.h"

namespace tenfold {

using low_latency::OpenRung;
using low_latency::RungSet;
using low_latency::Use;

namespace {

constexpr auto kTick = std::chrono::milliseconds(10);

std::string milliseconds(std::int64_t ns) { return cat(static_cast<double>(ns) / 1e6, " ms"); }

std::string reason(const OpenRung& rung, std::chrono::nanoseconds deadline) {
  const Status::Code code = rung.left_for.load(std::memory_order_relaxed);
  const std::string took = milliseconds(rung.left_after_ns.load(std::memory_order_relaxed));
  if (code == Status::ok) return cat("it took ", took, ", and the deadline is ", milliseconds(deadline.count()));
  std::string why = cat("a run failed after ", took, ": ", name(code));
  if (code == Status::device)
    if (const auto error = last_device_error(device_of(*rung.engine))) why += ": " + text(*error);
  return why;
}

bool is_lost(const OpenRung& rung) {
  return rung.left_for.load(std::memory_order_relaxed) == Status::device && !device_health(device_of(*rung.engine));
}

}  // namespace

void Runner::State::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, kTick, [] { return false; });
    if (stop.stop_requested()) return;
    free_unused();
    const std::shared_ptr<RungSet> set = current;
    look_after(*set, lock);
  }
}

void Runner::State::look_after(RungSet& set, std::unique_lock<std::mutex>& lock) {
  for (const auto& rung : set.rungs) {
    if (rung->use.load(std::memory_order_acquire) != Use::left) continue;
    const std::int64_t now = low_latency::now_ns();
    if (const std::uint64_t left = rung->left.load(std::memory_order_relaxed); left != rung->told) {
      const bool soon = rung->told > 0 && now - rung->back_at_ns < 10 * rung->pause_ns;
      rung->pause_ns = soon ? std::min(2 * rung->pause_ns, options.longest_pause.count()) : options.first_pause.count();
      rung->told = left;
      rung->why = reason(*rung, options.deadline);
      rung->probe_at_ns = now + rung->pause_ns;
      const bool lost = is_lost(*rung);
      if (lost) rung->use.store(Use::lost, std::memory_order_release);
      log(Severity::warning, "the rung '", rung->name, "' was left: ", rung->why,
          lost ? "; its device is lost for this process and is not asked again" : "");
    } else if (now >= rung->probe_at_ns) {
      probe(set, *rung, lock);
    }
  }
}

// All good answers are asked for at once: the rung is idle, and what took its time passed during the pause.
std::string Runner::State::failure_of_probes(const RungSet& set, OpenRung& rung) const {
  try {
    if (!rung.probe) rung.probe = std::make_unique<low_latency::ReadyContext>(*rung.engine, set.layout);
    std::vector<std::byte> output(set.sample_output.size());
    for (int good = 0; good < options.good_answers; ++good) {
      const std::int64_t start = low_latency::now_ns();
      const Status status = rung.probe->run(set.sample_input.data(), output.data(), nullptr);
      const std::int64_t took = low_latency::now_ns() - start;
      if (!status) return rung.probe->describe(status);
      if (options.deadline.count() > 0 && took > options.deadline.count()) return cat("a probe took ", milliseconds(took));
      if (options.tolerance >= 0 && low_latency::distance(set.layout, output.data(), set.sample_output.data()) > options.tolerance)
        return "a probe's answer was wrong";
    }
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

// Without the lock while the rung runs, which may take long or hang: whoever asks for the Runner's health or swaps waits for no probe.
void Runner::State::probe(const RungSet& set, OpenRung& rung, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  const std::string failure = failure_of_probes(set, rung);
  lock.lock();
  const std::int64_t now = low_latency::now_ns();
  if (failure.empty()) {
    rung.back_at_ns = now;
    rung.use.store(Use::answers, std::memory_order_release);
    log(Severity::info, "the rung '", rung.name, "' is back after ", options.good_answers, " good answers");
    return;
  }
  rung.why = failure;
  rung.pause_ns = std::min(2 * rung.pause_ns, options.longest_pause.count());
  rung.probe_at_ns = now + rung.pause_ns;
  if (!device_health(device_of(*rung.engine))) rung.use.store(Use::lost, std::memory_order_release);
}

}  // namespace tenfold
