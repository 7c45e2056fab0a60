#include "quant/ranges.h"

#include <algorithm>

namespace tenfold::quant {

Ranges ranges_of(const ir::Graph& graph, const Histograms& seen, const Calibrator& calibrator, const Placing& placing) {
  Ranges found;
  for (const auto& value : graph.values()) {
    const auto at = seen.find(value->name);
    if (at == seen.end() || at->second.count() == 0) continue;
    found[value->name] = calibrator.range(at->second, placing.around_zero(at->second.low()) ? Grid{255, true} : Grid{});
  }
  for (const auto& node : graph.nodes()) {   // operands first
    if (!passes_on(*node) || found.count(node->out()->name) || !seen.count(node->out()->name)) continue;
    Range all;
    for (std::size_t i = 0; i < node->inputs.size(); ++i)
      if (const ir::Value* from = node->in(static_cast<int>(i)); from && passes_on_from(*node, i))
        if (const auto range = found.find(from->name); range != found.end())
          all = {std::min(all.low, range->second.low), std::max(all.high, range->second.high)};
    found[node->out()->name] = all;
  }
  std::erase_if(found, [](const auto& one) { return !(one.second.high > one.second.low); });
  return found;
}

}  // namespace tenfold::quant
