// How far a plan is from the model in f32, on samples that gave no ranges.
#pragma once

#include <vector>

#include "builder/builder.h"
#include "quant/metric.h"

namespace tenfold::builder {

// The error of an output, by the metric of the budget, and as a share of its bound.
struct Judged {
  double share = 0, low = 0, high = 0;   // of the output that is nearest to its bound or furthest beyond; more than 1: out of the budget
  bool within() const { return share <= 1; }
};

class Judge {
 public:
  // Runs the model in f32 on every second sample from `first` on, `max_samples` in all, and keeps its results. `go_on` is called after each
  // run, here and in judgements: the number of the sample from 1 on, and how many there will be. It may throw, and may be empty.
  using GoOn = std::function<void(int done, int total)>;
  Judge(const ir::Graph& source, const BuildConfig& config, int first, int max_samples, GoOn go_on = {});
  ~Judge();
  int samples() const;
  const InputSet& sample() const;   // the first
  // Throws as runs of the engine do.
  Judged judge(const Engine& engine) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold::builder
