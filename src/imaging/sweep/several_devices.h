// One network on several devices: each sweeps rows of its own, in bands where memory is bounded.
#pragma once

#include <functional>
#include <span>

#include "tenfold/engine.h"
#include "tenfold/sliding_window.h"

namespace tenfold::imaging {

// `sweep`: of one engine.
using SweepOfOne = std::function<void(ImageSource& source, const Engine& engine, const MakeSink& sinks,
                                      const SweepOptions& options)>;
void sweep_on_devices(const SlidingWindow& windows, ImageSource& source, std::span<const Engine> engines,
                      const MakeSink& sinks, const SweepOptions& options, const SweepOfOne& sweep);

}  // namespace tenfold::imaging
