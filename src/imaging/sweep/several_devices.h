// One network on several devices: each sweeps a band of rows.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tenfold/engine.h"
#include "tenfold/sliding_window.h"

namespace tenfold::imaging {

// Rows [begin, end) for each device, in proportion to its speed; ends are among `ends`, which ascend to the last row. A
// device that is too slow for any gets none: begin == end.
struct Band { std::int64_t begin, end; };
std::vector<Band> bands_by_speed(std::span<const double> speeds, std::span<const std::int64_t> ends,
                                 std::int64_t first_row);

// `sweep`: of one engine.
using SweepOfOne = std::function<void(ImageSource& source, const Engine& engine, const MakeSink& sinks,
                                      const SweepOptions& options)>;
void sweep_on_devices(const SlidingWindow& windows, ImageSource& source, std::span<const Engine> engines,
                      const MakeSink& sinks, const SweepOptions& options, const SweepOfOne& sweep);

}  // namespace tenfold::imaging
