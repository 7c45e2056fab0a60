// What of a run's time its steps on reference kernels take.
#pragma once

#include "tenfold/build.h"

namespace tenfold::builder {

// Runs a built engine that has such steps once or twice, on the typical inputs or at random, adds to the note of each what share of the
// run it takes, and tells the log. From a tenth on the note is a warning. Builds that time nothing, and plans that such inputs cannot run,
// are left as they are.
void measure_reference_steps(Engine& engine, const BuildConfig& config);

}  // namespace tenfold::builder
