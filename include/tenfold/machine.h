// Checks a machine for low-latency use: settings for this process, and what is found beside what is expected.
#pragma once

#include <memory>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenfold/export.h"

namespace tenfold {

struct MachineOptions {
  std::vector<int> cpus;               // this thread, and threads that it makes later, stay on these; empty: wherever they are
  int priority = 0;                    // of SCHED_FIFO, 1 to 99, for this thread; 0: as it is
  bool spins = true;                   // the thread will not wait: then real-time throttling is told as a refusal
  bool lock_memory = false;            // all pages of the process, those to come too, are touched and stay (mlockall)
  bool shallow_sleep = false;          // /dev/cpu_dma_latency is held at 0: no CPU sleeps deeply
};

// A setting that was requested and refused: "--priority=80", why, and the command that permits it.
struct Refusal { std::string what, why, command; };

// Settings of this thread and process. Destroying it gives back what is held; affinity, priority and locked memory stay.
class TENFOLD_API MachineHold {
 public:
  // Throws invalid_argument for a CPU that does not exist or that this process may not use, and for priorities that do
  // not exist. All else that the system refuses is in refused().
  explicit MachineHold(const MachineOptions& options);
  ~MachineHold();
  MachineHold(const MachineHold&) = delete;
  MachineHold& operator=(const MachineHold&) = delete;
  const std::vector<Refusal>& refused() const noexcept { return refused_; }

 private:
  std::vector<Refusal> refused_;
  int latency_file_ = -1;
};

// The system takes the CPU from real-time threads that spin, for so long in each period. Nothing: it does not.
struct RealTimeThrottling { double taken_ms = 0, period_ms = 0; };
TENFOLD_API std::optional<RealTimeThrottling> real_time_throttling(const std::string& root = "");

// What runs on the machine beside its CPUs: the mean number of threads that ran or waited for a CPU in the last minute.
struct MachineLoad {
  double threads = 0;
  int cpus = 0;
  bool busy = false;                   // threads for half of the CPUs or more: what is measured holds their work, too
};
TENFOLD_API std::optional<MachineLoad> machine_load(const std::string& root = "");   // nothing: the system does not say
TENFOLD_API std::string text(const MachineLoad& load);   // "load average 4.2 on 2 CPUs"

// A setting that affects latency. `how` is the command or the boot parameter for the recommended value.
struct MachineFinding {
  std::string topic, found, expected, how;
  bool good = false;
};
// Looks at the machine for threads on these CPUs, and changes nothing. `root` is put in front of /proc and /sys. Throws
// invalid_argument for a CPU that does not exist, and io where /proc or /sys is not there.
TENFOLD_API std::vector<MachineFinding> look_at_machine(const std::vector<int>& cpus, const std::string& root = "");
// What a GPU does now, as NVIDIA's management library tells it; its numbers are not CUDA's where some are hidden from
// this process. -1 and empty: it does not say.
struct GpuState {
  int number = 0;
  std::string name;
  int sm_mhz = -1, most_sm_mhz = -1, memory_mhz = -1, celsius = -1;
  bool persistent = false;  // the driver keeps it awake while nobody uses it
  std::string slowed_by;    // "power cap, heat"; empty: nothing, or that it idles
  int utilization = -1;     // percent of the last moments in which a kernel ran
  double watts = -1, joules = -1;                          // now; since the driver was loaded
  std::int64_t memory_used_bytes = -1, memory_free_bytes = -1;   // by all processes
};
// Of all GPUs of the machine. Opens the library, and closes it again; `why_none` says why there are none.
TENFOLD_API std::vector<GpuState> gpu_states(std::string* why_none = nullptr);
TENFOLD_API std::string text(const GpuState& state);  // in one line
TENFOLD_API std::vector<int> allowed_cpus();   // that this thread may use

}  // namespace tenfold
