// What each layer costs by itself: the error of the outputs where it alone is of a narrower type.
#pragma once

#include <functional>

#include "builder/budget/layers.h"
#include "quant/place_qdq.h"

namespace tenfold::builder {

// What errors of single layers are measured with, on the CPU.
struct AloneRuns {
  const ir::Graph& source;
  const ir::Graph& rewritten;      // in f32, before its precision is settled
  const quant::Ranges& ranges;     // of a calibration; empty: nothing becomes 8 bits
  const quant::Placing& placing;
  const BuildConfig& config;       // with `calibration`, whose samples 0, 2, 4 and so on are run, and `budget`
};
// Fills Layer::error for each type of `layers` but f32, which has none. Values at the layers are kept in ErrorBudget::search_memory, one
// sample at a time, so that only what comes behind a layer runs again; where that is too little, all of the model runs. `go_on` is asked
// after each run, with their number: no more are begun once it says no, and what is not known then counts as the largest of what is.
void measure_alone(Layers& layers, const AloneRuns& runs, const std::function<bool(int done, int total)>& go_on);

}  // namespace tenfold::builder
