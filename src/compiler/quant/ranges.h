// Ranges of a graph's values, from what was seen of them.
#pragma once

#include "quant/calibrator.h"
#include "quant/place_qdq.h"

namespace tenfold::quant {

using Histograms = std::map<std::string, Histogram, std::less<>>;   // by the name of the value

// Of every value that has a histogram, but for those that were never anything but zero. A value that was not seen, for it only moves the
// elements of others and may be a view of them, has the range that covers all of theirs.
Ranges ranges_of(const ir::Graph& graph, const Histograms& seen, const Calibrator& calibrator, const Placing& placing);

}  // namespace tenfold::quant
