// The parts of the results that a sweep is asked for: all, some planes or rows; in bands where memory is bounded.
#pragma once

#include <functional>

#include "sweep/bands.h"

namespace tenfold::imaging {

// `shape` is asked where more than all results in one part is wanted. Throws invalid_argument.
std::vector<Part> requested_parts(const windows::WindowState& windows, const OutputOptions& outputs,
                               const SweepOptions& options, const std::function<SweepShape()>& shape);
// Where there are bands, one line in the log.
void log_bands(const windows::Grid& grid, const OutputOptions& outputs, const SweepOptions& options,
               std::span<const Part> parts);

}  // namespace tenfold::imaging
