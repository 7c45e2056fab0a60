// CpuPlaces: the CPUs that this process may use, and which of them are hyperthreads of one core.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenfold {

class CpuPlaces {
 public:
  // `allowed`: CPU numbers; `root`: what Linux shows as /sys/devices/system/cpu. A CPU without an entry there is a core of its own.
  CpuPlaces(const std::vector<int>& allowed, const std::string& root);
  static CpuPlaces of_this_thread();

  // All allowed CPUs: one of each core, then the second ones, and so on. Empty if the system does not say.
  const std::vector<int>& order() const noexcept { return order_; }
  int cores() const noexcept { return cores_; }   // of which at least one CPU is allowed
  int core_of(int cpu) const noexcept {           // equal for CPUs that share a core
    return cpu >= 0 && cpu < static_cast<int>(core_of_.size()) ? core_of_[static_cast<std::size_t>(cpu)] : cpu;
  }

 private:
  std::vector<int> order_, core_of_;
  int cores_ = 0;
};

// "0-3,8" as 0, 1, 2, 3, 8. What is no number, or no CPU number that a system has, ends the list.
std::vector<int> parse_cpu_list(std::string_view text);

// This thread may run on these CPUs alone from now on; false if the system refuses, or there are none.
bool stay_on(const std::vector<int>& cpus) noexcept;

}  // namespace tenfold
