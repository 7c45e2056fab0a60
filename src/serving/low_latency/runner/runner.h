// What stands behind a LatencyRunner: its candidates, the thread that answers by them, and a thread that watches.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "low_latency/runner/candidate_set.h"

namespace tenfold::low_latency {

struct PortSlot;
void serve(PortSlot& port_slot, bool on) noexcept;  // tells those who ask, from the slot's owner or with the LatencyRunner's mutex

// A RunnerThread's sign of life.
struct Pulse {
  std::atomic<std::int64_t> beat_ns{0};
  std::atomic<bool> asleep{false}, ended{false};
};

}  // namespace tenfold::low_latency

namespace tenfold {

struct LatencyRunner::State {
  State(std::vector<EngineCandidate> candidates, RunnerOptions given);
  ~State();

  // Null where bytes are needed.
  bool lacks(const void* input, const void* output) const noexcept {
    return (!input && layout.input_bytes > 0) || (!output && layout.output_bytes > 0);
  }
  // By the thread that has the LatencyRunner. `output` is written only where the status is ok.
  Answer answer(const std::byte* input, std::byte* output, std::int64_t due_ns) noexcept;

  void keep_warm() noexcept;
  Status precompute(const std::byte* next_window) noexcept;
  // The RunnerThread's: after an answer it expects the next window, and while it is idle it computes what it can of that.
  // False: nothing was left to do.
  void expect_next() noexcept;
  bool precompute_next() noexcept;

  const RunnerOptions options;
  const Log log;
  low_latency::MessageLayout layout;                                   // the same for all sets, for ever

  // The thread that answers says which set it uses, then looks again whether that is still the one to use: so the
  // others know which set nobody uses any more, and that thread waits for no one.
  std::atomic<low_latency::CandidateSet*> requested{nullptr}, in_use{nullptr};
  std::atomic<bool> has_thread{false};
  struct Counters {
    std::atomic<std::uint64_t> answered{0}, late{0}, not_finite{0}, failed{0}, fell{0}, swaps{0}, late_start{0}, full_recompute{0};
  } counters;

  // Of windows that slide by one row; the answering thread's.
  struct Rows {
    const low_latency::ReadyContext* last = nullptr;  // that ran the last request; to be compared, not used
    bool early = false;                               // something was computed early for the request under way
    bool expected = false;                            // precompute_next() is still to come
    int wrong = 0;                                    // windows in a row that were not those that were expected
    std::int64_t ready_ns = 0;                        // when the last answer ended, or what was computed early
  } rows;

  mutable std::mutex mutex;                                     // of all that follows
  std::shared_ptr<low_latency::CandidateSet> current;
  std::vector<std::shared_ptr<low_latency::CandidateSet>> retired;   // until nobody uses them
  std::vector<std::shared_ptr<low_latency::PortSlot>> port_slots;
  std::shared_ptr<low_latency::Pulse> pulse;                    // of the thread that has the LatencyRunner; null: none
  void free_unused();                                           // with the mutex

 private:
  low_latency::CandidateSet& enter() noexcept;
  void leave(low_latency::OpenCandidate& candidate, Status::Code why, std::int64_t took_ns) noexcept;
  Status run_candidates(low_latency::CandidateSet& set, const std::byte* input, std::byte* output, Answer& answer) noexcept;
  void before_rows(const low_latency::ReadyContext& context, const std::byte* input, Answer& answer) noexcept;
  void after_rows(const low_latency::ReadyContext& context, Answer& answer) noexcept;
  void watch(const std::stop_token& stop);
  void look_after(low_latency::CandidateSet& set, std::unique_lock<std::mutex>& lock);
  std::string failure_of_probes(const low_latency::CandidateSet& set, low_latency::OpenCandidate& candidate) const;  // empty: all were good
  void probe(const low_latency::CandidateSet& set, low_latency::OpenCandidate& candidate, std::unique_lock<std::mutex>& lock);
  std::condition_variable_any wake_;   // for the end
  std::jthread watcher_;
};

}  // namespace tenfold
