// What each layer costs by itself: the error of the outputs where it alone is of 8 bits.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "builder/budget/judge.h"
#include "quant/place_qdq.h"

namespace tenfold::builder {

struct Sensitivity {
  std::string node;    // of the rewritten graph
  std::string layer;   // the model's node that it stands for, as LayerTypes names it
  std::string op;
  double share = 0;    // of the bound
};

// Of every product that `placing` would give 8 bits and whose layer the user gave no type, in the order of the graph. Q/DQ are run in
// floats on the CPU. `go_on` is asked before each; if it says no, those left have the largest share of those known.
std::vector<Sensitivity> sensitivities(const ir::Graph& rewritten, const std::vector<plan::Range>& ranges, const quant::Ranges& calibrated,
                                       const quant::Placing& placing, const BuildConfig& config, const Judge& judge,
                                       const std::function<bool()>& go_on);

}  // namespace tenfold::builder
