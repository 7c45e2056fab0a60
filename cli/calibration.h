// Flags of 8-bit builds of plain models, and the data that gives their ranges.
#pragma once

#include "exec_options.h"
#include "flags.h"

namespace tenfold::cli {

void add_calibration_flags(Flags& flags, ExecOptions& options);
void check_calibration(ExecOptions& options);   // throws UsageError for flags that need others
// `config`: as the model is built, but for this. Throws Error(io) as Samples does.
Calibration calibration_of(const ExecOptions& options, const BuildConfig& config);

}  // namespace tenfold::cli
