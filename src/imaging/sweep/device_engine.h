// Sweeps of engines on a GPU that stay there.
#pragma once

#include <span>
#include <string_view>

#include "sweep/window_engine.h"

namespace tenfold::imaging {

inline constexpr std::string_view kOnHost = "windows are cut and blended on the host, not on the GPU: ";

// False where no engine is on a GPU, and, after one line in the log, where the GPU cannot: nothing was read or written
// then. Several engines: the mean of their outputs.
bool sweep_on_device(const SlidingWindow& windows, ImageSource& source, std::span<const Engine> engines,
                     std::span<WindowEngine* const> contexts, const MakeSink& sinks, const SweepOptions& options);

}  // namespace tenfold::imaging
