// The parts of the results that a sweep is asked for: all, some planes or rows, or bands where memory is bounded.
#pragma once

#include <functional>

#include "sweep/bands.h"

namespace tenfold::imaging {

// `shape` is asked where more than all results in one part is wanted. Throws invalid_argument.
std::vector<Part> requested_parts(const windows::WindowState& windows, const OutputOptions& outputs,
                               const SweepOptions& options, const std::function<SweepShape()>& shape);
// Where there are bands, one line in the log. `windows`: all that are computed, `in_one`: without bands.
void log_bands(const OutputOptions& outputs, const SweepOptions& options, std::size_t parts, std::int64_t windows,
                std::int64_t in_one);

}  // namespace tenfold::imaging
