// Candidates that the tuner found nearly as fast as the best one, timed again in the model: behind the other steps, with what these leave
// in the caches.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "tune/tuner.h"

namespace tenfold::builder {

// Runs of a graph with two sets of kernels, in turns.
struct ModelRuns {
  using StepTimes = std::map<std::string, double, std::less<>>;   // nanoseconds, by the names of the nodes
  std::function<std::pair<StepTimes, StepTimes>(const tune::Choice& first, const tune::Choice& second)> steps;
  std::function<std::pair<double, double>(const tune::Choice& first, const tune::Choice& second)> whole;   // nanoseconds of a run
};

struct InModelReport {
  int tried = 0, changed = 0;                 // problems with rivals, and those whose rival was faster
  double ratio = 1;                           // of a run's time with these, to that without
};

// Changes `chosen` where that shortens the whole run. `chosen.timed` names the rivals; layouts stay. Times go to the cache of `options`,
// by what surrounds a step; what the cache has is not timed again, and where nothing may be timed, nothing changes.
InModelReport try_rivals(const ir::Graph& graph, tune::Chosen& chosen, const tune::TuneOptions& options,
                         const backends::DeviceInfo& device, const ModelRuns& runs);

}  // namespace tenfold::builder
