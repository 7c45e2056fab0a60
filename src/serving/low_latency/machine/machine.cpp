// Settings of this thread and process, and what the system has against them.
#include "tenfold/machine.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/system_error.h"
#include "base/threads/cpu_places.h"
#include "low_latency/machine/settings.h"

namespace tenfold {

namespace low_latency {

std::string use_real_time(int priority) {
  require(priority >= ::sched_get_priority_min(SCHED_FIFO) && priority <= ::sched_get_priority_max(SCHED_FIFO),
          ErrorKind::invalid_argument, "priority is ", priority, ", expected 1 to 99, or 0 for an ordinary one");
  const sched_param parameters{priority};
  const int error = ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &parameters);
  return error == 0 ? "" : std::strerror(error);
}

std::string real_time_command(int priority) {
  return cat("sudo setcap cap_sys_nice+ep PROGRAM, or a limit: ulimit -r ", priority, " (LimitRTPRIO= of a service)");
}

}  // namespace low_latency

namespace {

constexpr const char* kLatencyFile = "/dev/cpu_dma_latency";

void stay_on_all(const std::vector<int>& cpus) {
  const std::vector<int> allowed = allowed_cpus();
  for (const int cpu : cpus)
    if (std::find(allowed.begin(), allowed.end(), cpu) == allowed.end()) {
      std::string list;
      for (const int one : allowed) list += cat(list.empty() ? "" : ",", one);
      fail(ErrorKind::invalid_argument, cat("CPU ", cpu, " does not exist, or this process may not use it; it may use ", list));
    }
  if (!cpus.empty()) require_system(stay_on(cpus), ErrorKind::invalid_argument, "the system refuses these CPUs");
}

}  // namespace

std::vector<int> allowed_cpus() {
  std::vector<int> cpus = CpuPlaces::of_this_thread().order();
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

MachineHold::MachineHold(const MachineOptions& o) {
  stay_on_all(o.cpus);
  if (o.lock_memory && ::mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
    refused_.push_back({"locked memory", std::strerror(errno), "sudo setcap cap_ipc_lock+ep PROGRAM, or a limit: ulimit -l unlimited"});
  if (o.shallow_sleep) {
    const std::int32_t microseconds = 0;
    latency_file_ = ::open(kLatencyFile, O_WRONLY | O_CLOEXEC);
    if (latency_file_ < 0 || ::write(latency_file_, &microseconds, sizeof microseconds) != sizeof microseconds)
      refused_.push_back({kLatencyFile, std::strerror(errno), cat("sudo chmod o+w ", kLatencyFile, ", or run as root")});
  }
  if (o.priority == 0) return;
  if (const std::string why = low_latency::use_real_time(o.priority); !why.empty()) {
    refused_.push_back({cat("priority ", o.priority, " (SCHED_FIFO)"), why, low_latency::real_time_command(o.priority)});
  } else if (const auto throttled = real_time_throttling(); throttled && o.spins) {
    refused_.push_back({cat("a real-time thread that spins"),
                        cat("the system takes the CPU from it for ", throttled->taken_ms, " ms in each ", throttled->period_ms,
                            " ms (real-time throttling), which is worse than an ordinary priority"),
                        "sudo sysctl kernel.sched_rt_runtime_us=-1, or let the thread wait instead of spin"});
  }
}

MachineHold::~MachineHold() {
  if (latency_file_ >= 0) ::close(latency_file_);
}

std::optional<RealTimeThrottling> real_time_throttling(const std::string& root) {
  double runtime = -1, period = 0;
  std::ifstream(root + "/proc/sys/kernel/sched_rt_runtime_us") >> runtime;
  std::ifstream(root + "/proc/sys/kernel/sched_rt_period_us") >> period;
  if (runtime < 0 || period <= 0 || runtime >= period) return std::nullopt;
  return RealTimeThrottling{(period - runtime) / 1000, period / 1000};
}

}  // namespace tenfold
