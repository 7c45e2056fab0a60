// Ranges and corrections tried on a few of the samples that gave them.
#pragma once

#include <vector>

#include "builder/builder.h"
#include "builder/precision/samples.h"
#include "quant/channel_stats.h"
#include "quant/place_qdq.h"

namespace tenfold::builder {

class RangeTrials {
 public:
  static constexpr std::size_t kMax = quant::kFewSamples, kMaxAside = quant::kMoreSamples;
  // All of them outlive this. `graph`: as it stands before its precision is settled.
  RangeTrials(const ir::Graph& graph, const std::vector<plan::Range>& ranges, const quant::Placing& placing, const BuildConfig& config)
      : graph_(graph), ranges_(ranges), placing_(placing), config_(config) {}

  // Samples and what the model in f32 makes of them. The first are those that error() runs, and some behind them are kept as they are.
  void keep(const Batch& batch, std::vector<std::vector<RuntimeValue>> answers);
  std::size_t count() const { return first_.samples.size(); }
  // For corrections to look at: others than error() runs, if there are so many, so that it does not praise what only fits its own.
  const Batch& aside() const { return aside_.samples.size() < kMax ? first_ : aside_; }
  // The relative l2 error of all outputs together. The graph with Q/DQ is run in floats, in which the plan's integers are exact but for the
  // order of sums.
  double error(const quant::Ranges& tried) const;

 private:
  const ir::Graph& graph_;
  const std::vector<plan::Range>& ranges_;
  const quant::Placing& placing_;
  const BuildConfig& config_;
  Batch first_, aside_;
  std::vector<std::vector<RuntimeValue>> answers_;
};

}  // namespace tenfold::builder
