#include "observe/machine_gauges.h"

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

namespace tenfold::server {
namespace {

struct CpuTimes {
  std::uint64_t all = 0, idle = 0;
};

CpuTimes cpu_times() {
  std::ifstream in("/proc/stat");
  std::string line, word;
  std::getline(in, line);
  std::istringstream fields(line);
  fields >> word;
  CpuTimes times;
  std::uint64_t ticks = 0;
  for (int field = 0; field < 8 && fields >> ticks; ++field) {  // user nice system idle iowait irq softirq steal
    times.all += ticks;
    if (field == 3 || field == 4) times.idle += ticks;
  }
  return times;
}

void read_memory(CpuGauges& cpu) {
  std::ifstream in("/proc/meminfo");
  std::string name, unit;
  std::uint64_t kilobytes = 0, total = 0, available = 0;
  while (in >> name >> kilobytes && std::getline(in, unit)) {
    if (name == "MemTotal:") total = kilobytes;
    if (name == "MemAvailable:") available = kilobytes;
  }
  cpu.memory_total = total * 1024, cpu.memory_used = (total - std::min(available, total)) * 1024;
}

}  // namespace

struct MachineSampler::Impl {
  void work(std::chrono::milliseconds interval, bool cpu, bool gpus) {
    CpuTimes last = cpu_times();
    bool first = true;
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, first ? std::chrono::milliseconds(0) : interval, [&] { return stopping; })) {
      lock.unlock();
      MachineGauges now;
      if (cpu) now.cpu = look_at_cpu(last);
      // A machine without GPUs, or without their library, gets none while it runs.
      if (gpus) now.gpus = look_at_gpus(), gpus = !now.gpus.empty();
      lock.lock();
      gauges = std::move(now);
      first = false;
      if (!cpu && !gpus) return;
    }
  }
  static CpuGauges look_at_cpu(CpuTimes& last) {
    CpuGauges cpu;
    const CpuTimes now = cpu_times();
    if (now.all > last.all) cpu.utilization = 1 - static_cast<double>(now.idle - last.idle) / static_cast<double>(now.all - last.all);
    last = now;
    read_memory(cpu);
    return cpu;
  }

  std::mutex mutex;
  std::condition_variable changed;
  MachineGauges gauges;
  bool stopping = false;
  std::thread thread;
};

MachineSampler::MachineSampler() : impl_(std::make_unique<Impl>()) {}
MachineSampler::~MachineSampler() { stop(); }

void MachineSampler::start(std::chrono::milliseconds interval, bool cpu, bool gpus) {
  if (cpu || gpus) impl_->thread = std::thread([this, interval, cpu, gpus] { impl_->work(interval, cpu, gpus); });
}

void MachineSampler::stop() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
    impl_->changed.notify_all();
  }
  if (impl_->thread.joinable()) impl_->thread.join();
}

MachineGauges MachineSampler::get() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->gauges;
}

MachineSampler& machine_sampler() {
  static MachineSampler sampler;
  return sampler;
}

}  // namespace tenfold::server
