// Sweeps of an engine on a GPU that stay there.
#pragma once

#include "device/device_sweep.h"
#include "sweep/window_engine.h"

namespace tenfold::imaging {

// False, after one line in the log, where the GPU cannot: nothing was read or written then.
bool sweep_on_device(const SlidingWindow& windows, ImageSource& source, const Engine& engine, WindowEngine& context,
                     const MakeSink& sinks, const SweepOptions& options);

}  // namespace tenfold::imaging
