// How work in pieces is divided between several devices: texts of an encoder, tiles of a volume, requests of a server.
#pragma once

#include <cstdint>
#include <string_view>

#include "tenfold/export.h"

namespace tenfold {

// A device that fails gives its piece back, and the others compute what it would have.
//   automatic    whoever is free takes the next piece
//   round_robin  pieces are dealt in turn
//   memory       by how much memory a device has free when the call begins
//   utilization  to the device that will be done first, by the work that it has to do (an encoder counts tokens) and its speed so far
//   pipeline     of encoders: the last device makes the vectors (pooling, and what follows it) of what the others compute, as an
//                engine of its own and beside their next pieces; if it fails, the others do this, too. Vectors of tokens and scores
//                have no such stage
enum class DeviceStrategy : std::uint8_t { automatic, round_robin, memory, utilization, pipeline };
// By the names auto, round_robin, memory, utilization and pipeline. Throws invalid_argument, which lists them, for any other.
TENFOLD_API DeviceStrategy parse_device_strategy(std::string_view name);

}  // namespace tenfold
