// Who watches a context's runs: profilers, and an observer of results.
#pragma once

#include <chrono>

#include "base/nvtx.h"
#include "runtime/frame.h"

namespace tenfold::runtime {

struct Watch {
  const RangeMarks* ranges = nullptr;         // a profiler's, if it was asked to see runs and steps
  StepTimeCallback step_timer;                // a profiler's
  std::chrono::steady_clock::time_point run_start;   // of the run at hand, where steps are timed
  ObserverCallback observer;
  std::set<std::string, std::less<>> observed;   // the names that it is shown; empty: all
  bool parts = false;                         // take times of the parts of a run
};

// As long as it lives, a profiler that listens shows the name.
class MarkedRange {
 public:
  MarkedRange(const Watch& watch, const char* name) noexcept : marks_(watch.ranges) {
    if (marks_) marks_->open(name);
  }
  ~MarkedRange() {
    if (marks_) marks_->close();
  }
  MarkedRange(const MarkedRange&) = delete;
  MarkedRange& operator=(const MarkedRange&) = delete;

 private:
  const RangeMarks* marks_;
};


Status observe(ContextState& context, const BoundStep& step) noexcept;   // tells the observer the results of a step that ran

}  // namespace tenfold::runtime
