// How long an engine's runs take.
#pragma once

#include <memory>
#include <vector>

#include "builder/builder.h"

namespace tenfold::builder {

class RunTimes {
 public:
  RunTimes(const Engine& engine, const InputSet& sample);   // runs it once, which does not count
  void run_for(double seconds);       // once at least, and 1000 times at most
  double milliseconds() const;        // the median of all runs
  void forget() { taken_.clear(); }

 private:
  std::unique_ptr<ExecutionContext> context_;
  std::vector<RuntimeValue> inputs_;
  std::vector<double> taken_;
};

}  // namespace tenfold::builder
