// The watcher: tells why candidates were left, tries them aside, and frees sets that nobody uses any more.
#include "low_latency/runner/runner.h"
#include "tenfold/device_array.h"
#include "tenfold/device_error.h"

namespace tenfold {

using low_latency::OpenCandidate;
using low_latency::CandidateSet;
using low_latency::Use;

namespace {

constexpr auto kTick = std::chrono::milliseconds(10);

std::string milliseconds(std::int64_t ns) { return cat(static_cast<double>(ns) / 1e6, " ms"); }

std::string reason(const OpenCandidate& candidate, std::chrono::nanoseconds deadline) {
  const Status::Code code = candidate.left_for.load(std::memory_order_relaxed);
  const std::string took = milliseconds(candidate.left_after_ns.load(std::memory_order_relaxed));
  if (code == Status::ok) return cat("it took ", took, ", and the deadline is ", milliseconds(deadline.count()));
  std::string why = cat("a run failed after ", took, ": ", name(code));
  if (code == Status::device)
    if (const auto error = last_device_error(device_of(*candidate.engine))) why += ": " + text(*error);
  return why;
}

bool is_lost(const OpenCandidate& candidate) {
  return candidate.left_for.load(std::memory_order_relaxed) == Status::device && !device_health(device_of(*candidate.engine));
}

}  // namespace

void LatencyRunner::State::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, kTick, [] { return false; });
    if (stop.stop_requested()) return;
    free_unused();
    const std::shared_ptr<CandidateSet> set = current;
    look_after(*set, lock);
  }
}

void LatencyRunner::State::look_after(CandidateSet& set, std::unique_lock<std::mutex>& lock) {
  for (const auto& candidate : set.candidates) {
    if (candidate->use.load(std::memory_order_acquire) != Use::left) continue;
    const std::int64_t now = low_latency::now_ns();
    if (const std::uint64_t left = candidate->left.load(std::memory_order_relaxed); left != candidate->reported) {
      const bool soon = candidate->reported > 0 && now - candidate->back_at_ns < 10 * candidate->pause_ns;
      candidate->pause_ns = soon ? std::min(2 * candidate->pause_ns, options.longest_pause.count()) : options.first_pause.count();
      candidate->reported = left;
      candidate->why = reason(*candidate, options.deadline);
      candidate->probe_at_ns = now + candidate->pause_ns;
      const bool lost = is_lost(*candidate);
      if (lost) candidate->use.store(Use::lost, std::memory_order_release);
      log(Severity::warning, "the candidate '", candidate->name, "' was left: ", candidate->why,
          lost ? "; its device is lost for this process and is not asked again" : "");
    } else if (now >= candidate->probe_at_ns) {
      probe(set, *candidate, lock);
    }
  }
}

// All good answers are asked for at once: the candidate is idle, and what took its time passed during the pause.
std::string LatencyRunner::State::failure_of_probes(const CandidateSet& set, OpenCandidate& candidate) const {
  try {
    if (!candidate.probe) candidate.probe = std::make_unique<low_latency::ReadyContext>(*candidate.engine, set.layout);
    std::vector<std::byte> output(set.sample_output.size());
    for (int good = 0; good < options.good_answers; ++good) {
      const std::int64_t start = low_latency::now_ns();
      const Status status = candidate.probe->run(set.sample_input.data(), output.data(), nullptr);
      const std::int64_t took = low_latency::now_ns() - start;
      if (!status) return candidate.probe->describe(status);
      if (options.deadline.count() > 0 && took > options.deadline.count()) return cat("a probe took ", milliseconds(took));
      if (options.tolerance >= 0 && low_latency::distance(set.layout, output.data(), set.sample_output.data()) > options.tolerance)
        return "a probe's answer was wrong";
    }
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

// Without the lock while the candidate runs, which may take long or hang: whoever asks for the LatencyRunner's health
// or swaps waits for no probe.
void LatencyRunner::State::probe(const CandidateSet& set, OpenCandidate& candidate, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  const std::string failure = failure_of_probes(set, candidate);
  lock.lock();
  const std::int64_t now = low_latency::now_ns();
  if (failure.empty()) {
    candidate.back_at_ns = now;
    candidate.use.store(Use::answers, std::memory_order_release);
    log(Severity::info, "the candidate '", candidate.name, "' is back after ", options.good_answers, " good answers");
    return;
  }
  candidate.why = failure;
  candidate.pause_ns = std::min(2 * candidate.pause_ns, options.longest_pause.count());
  candidate.probe_at_ns = now + candidate.pause_ns;
  if (!device_health(device_of(*candidate.engine))) candidate.use.store(Use::lost, std::memory_order_release);
}

}  // namespace tenfold
