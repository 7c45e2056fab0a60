// Candidates of one node: the best tactic for every combination of layouts, with what was tried and refused on the way.
#pragma once

#include "backends/tactic_set.h"
#include "tenfold/build.h"
#include "tune/choice/choice.h"
#include "tune/timing/roofline.h"
#include "tune/timing/timer.h"
#include "tune/tuner.h"

namespace tenfold::tune {

bool workspace_fits(const backends::Tactic& tactic, const backends::Problem& problem, const backends::Config& config,
                    const ir::SymbolValues& point);

// Finds candidates and remembers them by problem line: equal nodes are timed once.
class Candidates {
 public:
  Candidates(backends::Backend& backend, const backends::TacticSet& tactics, Timer& timer, const TuneOptions& options);
  // At least one: the reference kernel is always there. At most one per combination of layouts, in a fixed order.
  const std::vector<Candidate>& of(const ir::Node& node);
  // Whether the best candidate of `anchor` could take at most `limit` nanoseconds. No if its work says so, or if the choices that
  // won for `fused`, the same with an epilogue, are far from it; then nothing else of it is timed.
  bool may_reach(const ir::Node& anchor, const ir::Node& fused, std::int64_t limit);
  // All that were timed for such a node, in whatever layouts; empty if of() was not asked about one, or a callback chose.
  const std::vector<Candidate>& timed(const ir::Node& node) const;
  std::int64_t reformat_cost(const ir::Value& value) const;   // nanoseconds of changing a value's layout
  const backends::DeviceInfo& device() const { return backend_.info(); }

 private:
  bool timing() const { return options_.config->optimization_level > 0 && !options_.config->random_choices; }
  // `config` null: the tactic's first.
  MinTime min_of(const backends::Tactic& tactic, const backends::Problem& problem, const backends::Config* config = nullptr);
  backends::Problem problem_of(const ir::Node& node, const backends::Formats* formats) const;
  std::vector<backends::Formats> formats_of(const backends::Tactic& tactic, const backends::Problem& plain) const;
  bool runs(const backends::Tactic& tactic, const ir::Node& node) const;
  std::vector<const backends::Tactic*> by_min_time(const ir::Node& node);
  void add(const ir::Node& node, const backends::Tactic& tactic, std::vector<Candidate>& found, StepReport& report);
  void time_configs(const ir::Node& node, const backends::Tactic& tactic, const backends::Formats& formats,
                    std::vector<Candidate>& found, StepReport& report);
  void call_chooser(const ir::Node& node, const std::string& line, std::vector<Candidate>& found);
  bool is_capped(const StepReport& report) const;
  bool is_small(const ir::Node& node) const;
  bool is_empty(const ir::Node& node) const;
  bool source_allowed(backends::Source source) const;
  bool forced_away(const std::string& line, const std::string& tactic) const;

  backends::Backend& backend_;
  const backends::TacticSet& tactics_;
  Timer& timer_;
  const TuneOptions& options_;
  Roofline roofline_;
  std::map<std::string, std::vector<Candidate>> known_;
  std::map<std::string, std::vector<Candidate>> timed_;      // by problem line
  std::vector<Candidate> all_;                               // of the node at hand, where a callback chooses
};

}  // namespace tenfold::tune
