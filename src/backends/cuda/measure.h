// Timing a launch on a GPU by its own clock.
#pragma once

#include "backends/cuda/stream.h"
#include "backends/measure.h"

namespace tenfold::backends::cuda {

// Nanoseconds of one launch, as a node of a graph with equal neighbors. Not finite in use: 1e18 if the launch fails.
double measure_device(CudaStream& stream, const Tactic& tactic, const void* kernel, const RunArgs& args, const MeasureBudget& budget);

}  // namespace tenfold::backends::cuda
