// An open loop sends requests at times that do not depend on the answers. So a stall counts for every request
// that waited for its end: times run from when a request was due, not from when its turn came.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "tenfold/latency_recorder.h"
#include "tenfold/low_latency.h"

namespace tenfold {

// When requests are due: at equal distances, or as independent events of the same mean rate.
enum class Arrivals : std::uint8_t { constant, poisson };

struct OpenLoopOptions {
  double rate = 1000;                               // requests a second
  Arrivals arrivals = Arrivals::constant;
  std::chrono::nanoseconds duration = std::chrono::seconds(10);
  std::chrono::nanoseconds warm_up = std::chrono::seconds(1);   // at the same rate, before the duration; not counted
  std::uint64_t seed = 1;                           // of Poisson arrivals
  // How long before a request is due the thread begins to spin; until then it sleeps. Below 0: it always spins.
  std::chrono::nanoseconds spin{-1};
  // After so long without a request the engine runs on a sample, so that it stays warm. 0: never.
  std::chrono::nanoseconds keep_warm{0};
  CancelToken token;  // if it is tripped, the loop ends, and tells what there was
};

// A part of the run, for a plot of it.
struct OpenLoopSlice { std::int64_t worst_ns = 0, sum_ns = 0; std::uint64_t count = 0; };

struct OpenLoopResult {
  LatencyRecorder response;                         // from when a request was due to when its answer was there
  LatencyRecorder service;                          // from when its computing began to when it ended
  double seconds = 0;                               // until the last answer
  std::uint64_t requests = 0, answered = 0, dropped = 0;   // dropped: by full rings, or not answered a second after the end
  std::uint64_t failed = 0, late = 0, not_finite = 0;   // of those answered
  std::uint64_t late_requests = 0;                     // requests that were due before the thread could turn to them
  std::uint64_t late_start = 0, full_recompute = 0; // of those answered: as Answer says
  std::int64_t page_faults = 0, forced_switches = 0;    // of the thread that computes; -1: the system does not say
  std::vector<OpenLoopSlice> slices;                // of response times, equally long
};

// Asks the LatencyRunner in this thread. `inputs` are messages of runner.input_bytes() each, used in turn; after each answer,
// LatencyRunner::precompute() is given the next one. Throws invalid_argument.
TENFOLD_API OpenLoopResult run_open_loop(LatencyRunner& runner, const std::vector<const void*>& inputs, const OpenLoopOptions& options);
// Asks through rings, which `thread` serves. keep_warm is the thread's.
TENFOLD_API OpenLoopResult run_open_loop(RunnerPort& port, const RunnerThread& thread, const std::vector<const void*>& inputs,
                                         const OpenLoopOptions& options);
// The same without any work: what the machine alone takes away from a thread on this CPU.
TENFOLD_API OpenLoopResult run_idle_loop(const OpenLoopOptions& options);
// Runs one request directly after the other for this long: requests a second. This is not a latency.
TENFOLD_API double run_closed_loop(LatencyRunner& runner, const std::vector<const void*>& inputs, std::chrono::nanoseconds duration);

}  // namespace tenfold
