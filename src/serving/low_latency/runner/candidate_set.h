// CandidateSet: the candidates of a LatencyRunner at one time, each with a context that is ready.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "low_latency/runner/ready_context.h"
#include "tenfold/engine_slot.h"
#include "tenfold/low_latency.h"

namespace tenfold::low_latency {

// What a candidate is to the thread that answers.
enum class Use : std::uint8_t {
  answers,
  left,      // it failed or was too slow, and is probed aside
  lost,      // its device is lost for this process
  refused,   // it never opened, or computes something else than the last one
};

// One candidate. The thread that answers has `context`, and writes what is atomic; the others' are the watcher's.
struct OpenCandidate {
  std::string name;
  std::optional<Engine> engine;
  std::unique_ptr<ReadyContext> context;
  std::atomic<Use> use{Use::refused};
  std::atomic<std::uint64_t> answered{0}, left{0};
  std::atomic<Status::Code> left_for{Status::ok};   // ok: it was too slow
  std::atomic<std::int64_t> left_after_ns{0};       // what its last run took
  double difference = -1;

  // The watcher's, under its mutex.
  std::string why;
  ErrorKind kind = ErrorKind::internal;             // of what refused it
  std::unique_ptr<ReadyContext> probe;
  std::uint64_t reported = 0;                           // `left`, when it was told last
  std::int64_t probe_at_ns = 0, pause_ns = 0, back_at_ns = 0;
};

struct CandidateSet {
  std::optional<EngineSlot> slot;                   // of the first candidate that opened: tells who has its engine still
  MessageLayout layout;
  std::vector<std::unique_ptr<OpenCandidate>> candidates;
  std::vector<std::byte> sample_input, sample_output;   // what probes ask, and the last candidate's answer
  std::vector<std::byte> unread_output;                 // of runs that keep warm

  // The next candidate from `i` on that answers; how many there are if there is none.
  std::size_t next(std::size_t i) const noexcept {
    while (i < candidates.size() && candidates[i]->use.load(std::memory_order_acquire) != Use::answers) ++i;
    return i;
  }
};

// Opens, warms and compares. Throws as LatencyRunner's constructor does.
std::shared_ptr<CandidateSet> open_candidates(const std::vector<EngineCandidate>& candidates, const RunnerOptions& options, const Log& log);

}  // namespace tenfold::low_latency
