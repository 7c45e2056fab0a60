// By how much the channels of a data operand are scaled.
#pragma once

#include <vector>

#include "quant/channel_stats.h"

namespace tenfold::quant {

// Factors, and the mean squared error that its products are expected to have without them and with them: rounding's steps as independent
// noise, of the data by one step for all channels, of weights by one for each output channel.
struct Strength {
  std::vector<float> factors;   // empty: none is better
  double before = 0, after = 0;
};
Strength best_strength(const DataOperand& operand, const ChannelStats& stats, bool around_zero);

}  // namespace tenfold::quant
