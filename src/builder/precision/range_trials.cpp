#include "builder/precision/range_trials.h"

#include <cmath>

#include "builder/precision/observed_runs.h"
#include "builder/precision/samples.h"
#include "passes/pipeline.h"

namespace tenfold::builder {

void RangeTrials::keep(const InputSet& sample, std::vector<RuntimeValue> answer) {
  if (samples_.size() < kMost) samples_.push_back(sample), answers_.push_back(std::move(answer));
  else if (aside_.size() < kMostAside) aside_.push_back(sample);
}

double RangeTrials::error(const quant::Ranges& tried) const {
  ir::Graph quantised = graph_.clone();
  place_qdq(quantised, tried, placing_);
  passes::run(quantised, {passes::find_pass("lower_qdq")});   // it is run by kernels then
  lower_for_kernels(quantised);
  passes::run(quantised, {passes::find_pass("fuse_regions")});
  ObservedRuns runs(std::move(quantised), ranges_, config_);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const std::vector<RuntimeValue> got = runs.run(samples_[i]);
    for (std::size_t o = 0; o < got.size(); ++o) add_difference(got[o], answers_[i][o], error, size);
  }
  return size > 0 ? std::sqrt(error / size) : 0;
}

}  // namespace tenfold::builder
