#include "tenfold/device_strategy.h"

#include <string>

#include "tenfold/error.h"

namespace tenfold {

DeviceStrategy parse_device_strategy(std::string_view name) {
  if (name == "auto") return DeviceStrategy::automatic;
  if (name == "round_robin") return DeviceStrategy::round_robin;
  if (name == "memory") return DeviceStrategy::memory;
  if (name == "utilization") return DeviceStrategy::utilization;
  if (name == "pipeline") return DeviceStrategy::pipeline;
  throw Error(ErrorKind::invalid_argument,
              "the strategy of devices is auto, round_robin, memory, utilization or pipeline, not '" + std::string(name) + "'");
}

}  // namespace tenfold
