// Clocks, temperature, power, memory and what slows a GPU, by NVIDIA's management library (NVML), which is opened at run time.
#include <dlfcn.h>

#include <cmath>
#include <memory>

#include "base/check.h"
#include "tenfold/machine.h"

namespace tenfold {
namespace {

using Device = struct nvmlDevice_st*;
constexpr int kSm = 1, kMemory = 2;   // nvmlClockType_t

// NVML's functions, or why there are none. It is shut down at the end.
class Nvml {
 public:
  Nvml() : library_(::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)), why_(start()) {}
  ~Nvml() {
    if (started_) shutdown_();
    if (library_) ::dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  const std::string& why() const { return why_; }
  unsigned count() const {
    unsigned n = 0;
    return started_ && count_(&n) == 0 ? n : 0;
  }
  GpuState state(unsigned number) const {
    GpuState gpu{.number = static_cast<int>(number)};
    Device device = nullptr;
    if (device_(number, &device) != 0) return gpu;
    char name[96] = {};
    if (name_ && name_(device, name, sizeof name - 1) == 0) gpu.name = name;
    const auto number_of = [&](auto* function, int which, int& to) {
      unsigned value = 0;
      if (function && function(device, which, &value) == 0) to = static_cast<int>(value);
    };
    number_of(clock_, kSm, gpu.sm_mhz), number_of(max_clock_, kSm, gpu.most_sm_mhz), number_of(clock_, kMemory, gpu.memory_mhz);
    number_of(temperature_, 0, gpu.celsius);
    unsigned on = 0;
    gpu.persistent = persistence_ && persistence_(device, &on) == 0 && on != 0;
    unsigned long long bits = 0;
    if (slowed_ && slowed_(device, &bits) == 0) gpu.slowed_by = words(bits);
    read_use(device, gpu);
    return gpu;
  }

 private:
  struct Utilization {   // nvmlUtilization_t
    unsigned gpu = 0, memory = 0;
  };
  struct Memory {        // nvmlMemory_t
    unsigned long long total = 0, free = 0, used = 0;
  };
  void read_use(Device device, GpuState& gpu) const {
    constexpr double kThousandth = 1e-3;
    Utilization utilization;
    if (utilization_ && utilization_(device, &utilization) == 0) gpu.utilization = static_cast<int>(utilization.gpu);
    unsigned milliwatts = 0;
    if (power_ && power_(device, &milliwatts) == 0) gpu.watts = milliwatts * kThousandth;
    unsigned long long millijoules = 0;
    if (energy_ && energy_(device, &millijoules) == 0) gpu.joules = static_cast<double>(millijoules) * kThousandth;
    Memory memory;
    if (!memory_ || memory_(device, &memory) != 0) return;
    gpu.memory_used_bytes = static_cast<std::int64_t>(memory.used), gpu.memory_free_bytes = static_cast<std::int64_t>(memory.free);
  }

  std::string start() {   // why it does not
    if (!library_) return "no NVIDIA driver";
    find("nvmlInit_v2", init_), find("nvmlShutdown", shutdown_), find("nvmlDeviceGetCount_v2", count_);
    find("nvmlDeviceGetHandleByIndex_v2", device_), find("nvmlDeviceGetName", name_), find("nvmlDeviceGetClockInfo", clock_);
    find("nvmlDeviceGetMaxClockInfo", max_clock_), find("nvmlDeviceGetTemperature", temperature_);
    find("nvmlDeviceGetCurrentClocksThrottleReasons", slowed_), find("nvmlDeviceGetPersistenceMode", persistence_);
    find("nvmlDeviceGetUtilizationRates", utilization_), find("nvmlDeviceGetPowerUsage", power_);
    find("nvmlDeviceGetTotalEnergyConsumption", energy_), find("nvmlDeviceGetMemoryInfo", memory_);
    if (!init_ || !shutdown_ || !count_ || !device_) return "libnvidia-ml.so.1 lacks functions";
    const int code = init_();
    started_ = code == 0;
    return started_ ? "" : cat("NVML does not start: error ", code);
  }
  template <class Function>
  void find(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(::dlsym(library_, name));
  }
  static std::string words(unsigned long long bits) {   // nvmlClocksThrottleReason*; bit 0, that it idles, is left out
    static constexpr std::pair<unsigned long long, const char*> kReasons[] = {
        {0x02, "clocks that applications set"}, {0x04, "power cap"}, {0x08, "hardware"},     {0x10, "other GPUs (sync boost)"},
        {0x20, "heat (software)"},              {0x40, "heat"},      {0x80, "power brake"},  {0x100, "display clocks"}};
    std::string all;
    for (const auto& [bit, word] : kReasons)
      if (bits & bit) all += (all.empty() ? "" : ", ") + std::string(word);
    return all;
  }

  void* library_ = nullptr;
  bool started_ = false;
  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
  int (*count_)(unsigned*) = nullptr;
  int (*device_)(unsigned, Device*) = nullptr;
  int (*name_)(Device, char*, unsigned) = nullptr;
  int (*clock_)(Device, int, unsigned*) = nullptr;
  int (*max_clock_)(Device, int, unsigned*) = nullptr;
  int (*temperature_)(Device, int, unsigned*) = nullptr;
  int (*slowed_)(Device, unsigned long long*) = nullptr;
  int (*persistence_)(Device, unsigned*) = nullptr;
  int (*utilization_)(Device, Utilization*) = nullptr;
  int (*power_)(Device, unsigned*) = nullptr;
  int (*energy_)(Device, unsigned long long*) = nullptr;
  int (*memory_)(Device, Memory*) = nullptr;
  std::string why_;   // behind all that start() writes
};

}  // namespace

std::vector<GpuState> gpu_states(std::string* why_none) {
  const Nvml nvml;
  std::vector<GpuState> all;
  for (unsigned i = 0; i < nvml.count(); ++i) all.push_back(nvml.state(i));
  if (why_none) *why_none = !nvml.why().empty() ? nvml.why() : all.empty() ? "no GPU" : "";
  return all;
}

std::string text(const GpuState& s) {
  const auto known = [](int value, const char* unit) { return value < 0 ? "unknown" : cat(value, unit); };
  constexpr std::int64_t kMiB = 1 << 20;
  std::string use;
  if (s.utilization >= 0) use += cat(", ", s.utilization, " % busy");
  if (s.watts >= 0) use += cat(", ", std::lround(s.watts), " W");
  if (s.joules >= 0) use += cat(", ", std::llround(s.joules), " J since its start");
  if (s.memory_used_bytes >= 0) use += cat(", ", s.memory_used_bytes / kMiB, " MiB used, ", s.memory_free_bytes / kMiB, " MiB free");
  return cat(s.number, " ", s.name.empty() ? "GPU" : s.name, ", SM clock ", known(s.sm_mhz, ""), " of ", known(s.most_sm_mhz, " MHz"),
             ", memory ", known(s.memory_mhz, " MHz"), ", ", known(s.celsius, " C"), use, s.persistent ? "" : ", sleeps while unused",
             s.slowed_by.empty() ? "" : ", slowed by " + s.slowed_by);
}

}  // namespace tenfold
