// What builds of one model with several precisions need to find out only once.
#pragma once

#include <optional>

#include "ir/graph.h"
#include "quant/place_qdq.h"
#include "tenfold/quantize.h"

namespace tenfold::builder {

struct Findings {
  bool keeps_rewritten = false;             // whether `rewritten` is wanted
  std::optional<quant::Ranges> ranges;      // of a calibration, and what it has to tell
  CalibrationReport calibration;
  std::optional<ir::Graph> rewritten;       // of the first profile, before its precision is settled
};

}  // namespace tenfold::builder
