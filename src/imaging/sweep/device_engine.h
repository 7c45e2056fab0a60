// Sweeps of an engine on a GPU that stay there.
#pragma once

#include <string_view>

#include "device/device_sweep.h"
#include "sweep/window_engine.h"

namespace tenfold::imaging {

inline constexpr std::string_view kOnHost = "windows are cut and blended on the host, not on the GPU: ";

// False, after one line in the log, where the GPU cannot: nothing was read or written then.
bool sweep_on_device(const SlidingWindow& windows, ImageSource& source, const Engine& engine, WindowEngine& context,
                     const MakeSink& sinks, const SweepOptions& options);

}  // namespace tenfold::imaging
