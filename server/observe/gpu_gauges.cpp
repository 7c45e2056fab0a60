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
    // As GpuState learns of utilization, power, energy and memory, a line for each stands here, and its gauge is in /metrics.
    gauges.push_back(std::move(gpu));
  }
  return gauges;
}

}  // namespace tenfold::server
