// CorrectionMethods: what lessens the error of 8 bits. One file each in correction methods/.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "quant/calibrator.h"
#include "quant/channel_stats.h"

namespace tenfold::quant {

// What a correction method may look at.
struct CorrectionInput {
  const ir::Graph& graph;         // before anything of it was changed
  const Ranges& ranges;           // so far, with the corrections of correction methods before it
  const Placing& placing;
  const Calibrator& calibrator;   // that made the ranges
  const std::map<std::string, ChannelStats, std::less<>>& channels;   // of data operands (data_operands), over all samples
  const RunAgain& run;
};

struct CorrectionMethod {
  std::string_view name;
  std::optional<Ranges> (*apply)(const CorrectionInput& input);   // nothing: it finds nothing to do
};
const std::vector<CorrectionMethod>& correction_methods();   // in the order in which they serve
const CorrectionMethod& correction_method(std::string_view name);   // throws invalid_argument naming those that there are

// For correction methods that scale channels: the operands that one is for, with the factors that lessen the error of their products most.
std::optional<Ranges> with_scaled_channels(const CorrectionInput& input, bool (*is_for)(const ir::Graph& graph, const DataOperand& operand),
                                           double min_gain);

}  // namespace tenfold::quant
