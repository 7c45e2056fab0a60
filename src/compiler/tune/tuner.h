// The tuner: chooses tactics, layouts and fusion cuts for a whole graph, by time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "backends/tactic_set.h"
#include "tenfold/build.h"
#include "tune/choice/choice.h"
#include "tune/timing/timing_cache.h"

namespace tenfold::tune {

struct TuneOptions {
  const BuildConfig* config = nullptr;
  ir::SymbolBounds box;            // ranges of every symbol
  ir::SymbolValues opt;            // the point to time at
  TimingCache* cache = nullptr;    // never null while building
  std::set<TimingKey>* used_timings = nullptr;   // learns which times the choice depends on
  BuildReport* report = nullptr;
  class SecondRound* second_round = nullptr;   // learns of what was measured; null: nothing is timed again
  bool keep_merged = false;        // products that passes merged stay one, whatever their parts take
  std::string_view phase = "tune";   // of BuildConfig::progress; "confirm": times are taken again, and the graph is walked with those
};

// Looks into options.cache first, and writes what `timer` measures there.
// `round`: which times these are, if not those that a graph is walked by.
std::unique_ptr<class Timer> cached_timer(class Timer& timer, const backends::DeviceInfo& device, const TuneOptions& options,
                                          bool cold_weights, std::string_view round = {});

// What times of the timing cache depend on beside problem and kernel: the machine, its threads, how often candidates are launched.
std::string timing_machine(const backends::DeviceInfo& device, const BuildConfig& config);

// Whether a run's other weights have pushed a step's own out of the caches before it comes again.
bool weights_leave_caches(const ir::Graph& graph, const backends::DeviceInfo& device, int threads);

// Times of single choices for nodes of a graph, as it was when choose() began. By the cache, where they are known.
class ChoiceTimer {
 public:
  ChoiceTimer(const ir::Graph& graph, backends::Backend& backend, const TuneOptions& options);
  ~ChoiceTimer();
  // kCannotRun: it does not, here.
  double nanoseconds(const ir::Node& node, const NodeChoice& choice) { return time(node, choice, *cached_); }
  // A second time, which no walk over the graph looks at: what was fastest once was lucky more often than what was not.
  double again(const ir::Node& node, const NodeChoice& choice) { return time(node, choice, *second_); }

 private:
  double time(const ir::Node& node, const NodeChoice& choice, class Timer& timer);
  backends::Backend& backend_;
  const TuneOptions& options_;
  std::unique_ptr<class Timer> clock_, cached_, second_;
};

// May cut fused nodes of `graph` (and of its bodies) in two. Deterministic in graph, options and a complete cache.
struct Chosen {
  Choice choice;
  std::int64_t nanoseconds = 0;    // of all steps, bodies once
  // All candidates that were timed in the layouts that were chosen. Empty where nothing was timed.
  std::unordered_map<const ir::Node*, std::vector<Candidate>> timed = {};
  int unmerged = 0;                // products that were taken apart again
};
Chosen choose(ir::Graph& graph, backends::Backend& backend, const backends::TacticSet& tactics, const TuneOptions& options);
// The same by that timer: in one walk over the graph, or with a second round of timing for what may win.
Chosen choose_once(ir::Graph& graph, backends::Backend& backend, const backends::TacticSet& tactics, const TuneOptions& options,
                   class Timer& timer, bool cold_weights);
Chosen choose_twice(ir::Graph& graph, backends::Backend& backend, const backends::TacticSet& tactics, const TuneOptions& options,
                    class Timer& timer, bool cold_weights);

}  // namespace tenfold::tune
