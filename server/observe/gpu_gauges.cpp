// What metrics have of GPUs, out of what the engine's library knows of them.
#include "observe/machine_gauges.h"
#include "tenfold/machine.h"

namespace tenfold::server {

std::vector<GpuGauges> look_at_gpus() {
  std::vector<GpuGauges> gauges;
  for (const GpuState& state : gpu_states()) {
    GpuGauges gpu;
    gpu.uuid = std::to_string(state.number);
    if (state.celsius >= 0) gpu.celsius = state.celsius;
    if (state.utilization >= 0) gpu.utilization = state.utilization / 100.0;
    if (state.watts >= 0) gpu.power_watts = state.watts;
    if (state.joules >= 0) gpu.energy_joules = state.joules;
    if (state.memory_used_bytes >= 0) gpu.memory_used = state.memory_used_bytes;
    if (state.memory_used_bytes >= 0 && state.memory_free_bytes >= 0) gpu.memory_total = state.memory_used_bytes + state.memory_free_bytes;
    gauges.push_back(std::move(gpu));
  }
  return gauges;
}

}  // namespace tenfold::server
