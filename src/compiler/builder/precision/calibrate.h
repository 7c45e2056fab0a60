// Ranges of values from BuildConfig::calibration: the samples run in f32, and every operand of a product is looked at.
#pragma once

#include "builder/builder.h"
#include "quant/place_qdq.h"

namespace tenfold::builder {

// The ranges, from samples 0, 2, 4 and so on. Throws invalid_argument: an unknown method, no sample at all, a sample that does not fit
// the model (its number and the reason are told).
// `graph`: as it stands before its precision is settled.
quant::Ranges calibrated(const ir::Graph& graph, const std::vector<plan::Range>& ranges, const quant::Placing& placing,
                         const BuildConfig& config, CalibrationReport& report);

// What the ranges cost: the engine (of a plan, or of a file that was written) beside `source` in f32, on the other samples. Their errors
// go into the report and the log, and so does a run that fails.
void compare_with_floats(const ir::Graph& source, const Engine& engine, const BuildConfig& config, CalibrationReport& report);

}  // namespace tenfold::builder
