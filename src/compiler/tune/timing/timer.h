// Timer: how long a tactic takes on a problem. By the clock, from a cache, or at random: measuring is an interface.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backends/backend.h"
#include "tenfold/build.h"

namespace tenfold::tune {

// The time of what turned out not to run: a library's candidate that it then refuses.
inline constexpr double kCannotRun = backends::kFailed;

class Timer {
 public:
  virtual ~Timer() = default;
  // Nanoseconds of one launch; `problem` has constant dims. May stop early when it is clear that `best_so_far` is not reached.
  virtual double time(const backends::Tactic& tactic, const backends::Problem& problem, const backends::Config& config,
                      double best_so_far) = 0;
  // The same once more, with less effort: to see whether a time holds.
  virtual double again(const backends::Tactic& tactic, const backends::Problem& problem, const backends::Config& config) {
    return time(tactic, problem, config, 0);
  }
  // Are constants out of the caches when a launch is timed?
  virtual bool cold_weights() const { return false; }
};

// By the clock of the backend, on operands of made-up data. Scratch memory is kept between calls. `cold_weights`: the constants
// of a model this large have left the caches when a run comes back to them, so they are put out before each launch.
std::unique_ptr<Timer> clock_timer(backends::Backend& backend, const BuildConfig& config, bool cold_weights);
// The same numbers for the same seed, problem and tactic, whatever the machine: for tests of everything that timing decides.
std::unique_ptr<Timer> random_timer(std::uint64_t seed);
// Starts compiling what is asked for and gives one guess for all: a first walk over the graph before the one that measures.
std::unique_ptr<Timer> survey_timer();

std::string config_text(const backends::Config& config);   // "16,256,0"
std::string config_text(const backends::Config& config, const backends::Formats& formats);   // for people: "16,256,0 plain>cl"

}  // namespace tenfold::tune
