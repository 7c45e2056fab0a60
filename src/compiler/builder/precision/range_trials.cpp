#include "builder/precision/range_trials.h"

#include <cmath>

#include "builder/precision/observed_runs.h"
#include "builder/precision/samples.h"
#include "passes/pipeline.h"

namespace tenfold::builder {

void RangeTrials::keep(const Batch& batch, std::vector<std::vector<RuntimeValue>> answers) {
  for (std::size_t i = 0; i < batch.samples.size(); ++i) {
    const bool first = first_.samples.size() < kMax;
    Batch& to = first ? first_ : aside_;
    if (to.samples.empty()) to.first = batch.number(i);
    if (first) answers_.push_back(std::move(answers[i]));
    if (first || to.samples.size() < kMaxAside) to.samples.push_back(batch.samples[i]);
  }
}

double RangeTrials::error(const quant::Ranges& tried) const {
  ir::Graph quantized = graph_.clone();
  place_qdq(quantized, tried, placing_);
  passes::run(quantized, {passes::find_pass("lower_qdq")});   // it is run by kernels then
  lower_for_kernels(quantized);
  passes::run(quantized, {passes::find_pass("fuse_regions")});
  ObservedRuns runs(std::move(quantized), ranges_, config_, ObservedRuns::Processors::side_by_side);
  const std::vector<std::vector<RuntimeValue>> got = runs.run_all(first_);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    for (std::size_t o = 0; o < got[i].size(); ++o) add_difference(got[i][o], answers_[i][o], error, size);
  return size > 0 ? std::sqrt(error / size) : 0;
}

}  // namespace tenfold::builder
