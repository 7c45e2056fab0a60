// Candidates of one node: the best tactic for every combination of layouts, with what was tried and refused on the way.
#pragma once

#include "tenfold/build.h"
#include "tune/choice.h"
#include "tune/timer.h"
#include "tune/tuner.h"

namespace tenfold::tune {

struct Candidate {
  NodeChoice choice;
  std::int64_t nanoseconds = 0;
};

// Finds candidates and remembers them by problem line: equal nodes are timed once.
class Candidates {
 public:
  Candidates(backends::Backend& backend, Timer& timer, const TuneOptions& options);
  // At least one: the reference kernel is always there. At most one per combination of layouts, in a fixed order.
  const std::vector<Candidate>& of(const ir::Node& node);
  std::int64_t reformat_cost(const ir::Value& value) const;   // nanoseconds of changing a value's layout

 private:
  void add(const ir::Node& node, const backends::Tactic& tactic, std::vector<Candidate>& found, StepReport& report);
  void time_configs(const ir::Node& node, const backends::Tactic& tactic, const backends::Formats& formats,
                    std::vector<Candidate>& found, StepReport& report);
  bool source_allowed(backends::Source source) const;
  bool forced_away(const std::string& line, const std::string& tactic) const;

  backends::Backend& backend_;
  Timer& timer_;
  const TuneOptions& options_;
  std::map<std::string, std::vector<Candidate>> known_;
};

}  // namespace tenfold::tune
