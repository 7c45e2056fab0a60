// Which rows each of several devices computes, and in how many bands.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sweep/bands.h"

namespace tenfold::imaging {

// Rows for each device, in proportion to its speed; ends are among `ends`, which ascend to the last row. A device that is
// too slow for any gets none: begin == end.
std::vector<Range> rows_by_speed(std::span<const double> speeds, std::span<const std::int64_t> ends,
                                 std::int64_t first_row);

// What each of the devices that have rows gets of `memory`, which they use at the same time. 0: no bound.
struct MemoryShare { std::int64_t all, each, devices; };
MemoryShare share_memory(std::int64_t memory, std::span<const Range> rows);
// Calls `go`. What it throws where a share is too little names the whole, too.
void within_share(const MemoryShare& share, const std::function<void()>& go);

// See sweep_bands() of several devices.
std::vector<DeviceBand> bands_of_devices(const SweepShape& shape, std::span<const double> speeds, std::int64_t memory,
                                         std::int64_t align);

}  // namespace tenfold::imaging
