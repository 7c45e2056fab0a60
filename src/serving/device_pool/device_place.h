// Devices by their names: "cpu", processors of it, GPUs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tenfold/device.h"

namespace tenfold::serving {

struct DevicePlace {
  std::string name;             // as the caller wrote it
  std::string device;           // as BuildConfig::device takes it
  std::vector<int> processors;  // that its threads keep to; empty: any
  int threads = 0;              // of an engine; 0: whatever it would take alone
  bool on_gpu() const { return is_gpu(device); }
};

// Throws invalid_argument for a name that is none and for processors that this process may not use. `threads`: of one
// device, 0: "cpu" has all processors, or its share of them where it is named more than once.
std::vector<DevicePlace> places_of(std::span<const std::string> names, int threads);
// This thread, and those that it starts, keep to the processors of a place.
void keep_to(const DevicePlace& place);
// By this thread's affinity and its cgroup's quota, whose files are read at each call.
std::size_t usable_processors();
// Bytes that a device has free; of the machine's memory each of `cpus` devices gets a share.
double free_bytes(const DevicePlace& place, int cpus);

}  // namespace tenfold::serving
