// What builds of one model with several precisions need to find out only once.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "ir/graph.h"
#include "quant/place_qdq.h"
#include "tenfold/quantize.h"

namespace tenfold::builder {

struct Findings {
  bool keeps_rewritten = false;             // whether `rewritten` is wanted
  std::optional<quant::Ranges> ranges;      // of a calibration, and what it has to tell
  CalibrationReport calibration;
  std::optional<ir::Graph> rewritten;       // of the first profile, before its precision is settled
  std::optional<std::map<std::string, double>> too_large;   // for f16: values with their magnitudes, on the caller's inputs
};

}  // namespace tenfold::builder
