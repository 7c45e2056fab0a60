// The state of the machine for metrics: the CPU, its memory, GPUs. A thread of its own looks at them, so that a scrape does not wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenfold::server {

struct CpuGauges {
  double utilization = 0;  // of all CPUs, 0 to 1, since the last look
  std::uint64_t memory_total = 0, memory_used = 0;
};
// What a GPU does not say is not set.
struct GpuGauges {
  std::string uuid;  // or its number, where it says none
  std::optional<double> utilization, power_watts, power_limit_watts, energy_joules, celsius;
  std::optional<std::uint64_t> memory_total, memory_used;
};
struct MachineGauges {
  std::optional<CpuGauges> cpu;
  std::vector<GpuGauges> gpus;
};

// Of all GPUs, now.
std::vector<GpuGauges> look_at_gpus();

class MachineSampler {
 public:
  MachineSampler();
  ~MachineSampler();
  void start(std::chrono::milliseconds interval, bool cpu, bool gpus);
  void stop();
  MachineGauges get() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
MachineSampler& machine_sampler();  // of the process

}  // namespace tenfold::server
