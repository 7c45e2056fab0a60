// What bears on latency, read from /proc and /sys. A topic is one function.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/check.h"
#include "base/threads/cpu_places.h"
#include "tenfold/machine.h"

namespace tenfold {
namespace {

namespace fs = std::filesystem;
using Cpus = std::vector<int>;

constexpr const char* kPresent = "/sys/devices/system/cpu/present";

// A look at the machine below a root.
struct Look {
  const std::string& root;
  const Cpus& cpus;

  std::string text(const std::string& path) const {   // of a file, blanks at the end removed
    std::ifstream in(root + path);
    std::string all{std::istreambuf_iterator<char>(in), {}};
    all.erase(all.find_last_not_of(" \n\t") + 1);
    return all;
  }
  std::string of_cpu(int cpu, const std::string& file) const { return text(cat("/sys/devices/system/cpu/cpu", cpu, "/", file)); }
  std::vector<fs::path> folder(const std::string& path) const {
    std::error_code none;
    std::vector<fs::path> all;
    for (fs::directory_iterator i(root + path, none), end; i != end; i.increment(none)) all.push_back(i->path());
    std::sort(all.begin(), all.end());
    return all;
  }
};

std::string list(const Cpus& cpus) {
  std::string all;
  for (const int cpu : cpus) all += cat(all.empty() ? "" : ",", cpu);
  return all.empty() ? "none" : all;
}
Cpus missing(const Cpus& expected, const Cpus& there) {
  Cpus all;
  for (const int cpu : expected)
    if (std::find(there.begin(), there.end(), cpu) == there.end()) all.push_back(cpu);
  return all;
}

MachineFinding other_work(const Look& look) {
  const auto found = machine_load(look.root);
  return {"load", found ? text(*found) : "unknown", "no other work: it makes hiccups", "stop what runs beside (top), or isolate the CPUs",
          !found || !found->busy};
}

// The CPUs that a parameter of the kernel names.
MachineFinding kernel_list(const Look& look, const std::string& topic, const std::string& found_in, const std::string& why) {
  std::string found = found_in;
  if (found.empty() || found == "(null)") found = "none";
  const bool good = missing(look.cpus, parse_cpu_list(found)).empty();
  return {topic, found, cat(list(look.cpus), why), cat("boot with ", topic, "=", list(look.cpus)), good};
}
std::string boot_parameter(const Look& look, const std::string& name) {
  std::istringstream words(look.text("/proc/cmdline"));
  for (std::string word; words >> word;)
    if (word.rfind(name + "=", 0) == 0) return word.substr(name.size() + 1);
  return "";
}

MachineFinding isolated(const Look& look) {
  return kernel_list(look, "isolcpus", look.text("/sys/devices/system/cpu/isolated"), ": no other thread is put there");
}
MachineFinding tickless(const Look& look) {
  return kernel_list(look, "nohz_full", look.text("/sys/devices/system/cpu/nohz_full"), ": no timer tick while one thread runs");
}
MachineFinding no_callbacks(const Look& look) {
  return kernel_list(look, "rcu_nocbs", boot_parameter(look, "rcu_nocbs"), ": the kernel's callbacks run elsewhere");
}

MachineFinding governor(const Look& look) {
  std::string found;
  bool good = true;
  for (const int cpu : look.cpus) {
    const std::string one = look.of_cpu(cpu, "cpufreq/scaling_governor");
    good &= one.empty() || one == "performance";
    if (found.find(one) == std::string::npos) found += (found.empty() ? "" : ", ") + one;
  }
  if (found.empty()) return {"governor", "not the system's to choose", "performance", "set it in the firmware or the hypervisor", true};
  return {"governor", found, "performance", cat("sudo cpupower -c ", list(look.cpus), " frequency-set -g performance"), good};
}

MachineFinding sleep_states(const Look& look) {
  long worst = 0;
  std::string name;
  for (const int cpu : look.cpus)
    for (const fs::path& state : look.folder(cat("/sys/devices/system/cpu/cpu", cpu, "/cpuidle"))) {
      const std::string at = state.string().substr(look.root.size());
      const long microseconds = std::atol(look.text(at + "/latency").c_str());
      if (look.text(at + "/disable") == "0" && microseconds > worst) worst = microseconds, name = look.text(at + "/name");
    }
  return {"C-states", worst == 0 ? "none that take time to leave" : cat(name, " takes ", worst, " us to leave"), "2 us at most",
          "--shallowSleep holds /dev/cpu_dma_latency at 0; or boot with intel_idle.max_cstate=1 processor.max_cstate=1", worst <= 2};
}

MachineFinding siblings(const Look& look) {
  Cpus beside;
  for (const int cpu : look.cpus)
    for (const int other : parse_cpu_list(look.of_cpu(cpu, "topology/thread_siblings_list")))
      if (other != cpu) beside.push_back(other);
  return {"hyperthread", beside.empty() ? "none beside them" : cat("CPU ", list(beside), " shares a core"), "none, or idle",
          beside.empty() ? "" : cat("echo 0 | sudo tee /sys/devices/system/cpu/cpu", beside.front(), "/online"), beside.empty()};
}

MachineFinding interrupts(const Look& look) {
  int count = 0;
  for (const fs::path& irq : look.folder("/proc/irq")) {
    const Cpus on = parse_cpu_list(look.text(irq.string().substr(look.root.size()) + "/effective_affinity_list"));
    count += missing(look.cpus, on).size() < look.cpus.size();
  }
  return {"interrupts", cat(count, count == 1 ? " comes" : " come", " to these CPUs"), "none",
          "stop irqbalance; echo OTHERS | sudo tee /proc/irq/N/smp_affinity_list", count == 0};
}

MachineFinding huge_pages(const Look& look) {
  const std::string transparent = look.text("/sys/kernel/mm/transparent_hugepage/enabled");
  const auto open = transparent.find('['), close = transparent.find(']');
  const std::string mode = close == std::string::npos ? "missing" : transparent.substr(open + 1, close - open - 1);
  return {"huge pages", cat("transparent: ", mode), "madvise or always",
          "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled", mode == "madvise" || mode == "always"};
}

MachineFinding swap(const Look& look) {
  const std::string all = look.text("/proc/swaps");
  const auto areas = std::count(all.begin(), all.end(), '\n');
  return {"swap", areas == 0 ? "none" : cat(areas, areas == 1 ? " area" : " areas"), "none, or --lockMemory", "sudo swapoff -a",
          areas == 0};
}

MachineFinding throttling(const Look& look) {
  const auto found = real_time_throttling(look.root);
  return {"real-time throttling",
          found ? cat(found->taken_ms, " ms of each ", found->period_ms, " ms are taken from threads that spin") : "off",
          "off, or no --priority", "sudo sysctl kernel.sched_rt_runtime_us=-1", !found};
}

MachineFinding clock(const Look& look) {
  const std::string found = look.text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  return {"clock", found.empty() ? "unknown" : found, "tsc: the time is read without a system call",
          "boot with tsc=reliable clocksource=tsc", found == "tsc"};
}

MachineFinding numa(const Look& look) {
  std::string nodes, gpus;
  int count = 0;
  for (const fs::path& node : look.folder("/sys/devices/system/node")) {
    if (node.filename().string().rfind("node", 0) != 0) continue;
    const Cpus there = parse_cpu_list(look.text(node.string().substr(look.root.size()) + "/cpulist"));
    if (missing(look.cpus, there).size() < look.cpus.size()) nodes += cat(nodes.empty() ? "" : ", ", node.filename().string()), ++count;
  }
  bool good = count <= 1;
  for (const fs::path& device : look.folder("/sys/bus/pci/devices")) {
    const std::string at = device.string().substr(look.root.size());
    if (look.text(at + "/vendor") != "0x10de" || look.text(at + "/class").rfind("0x03", 0) != 0) continue;
    const std::string node = "node" + look.text(at + "/numa_node");
    gpus += cat("; the GPU ", device.filename().string(), " is at ", node);
    good &= node == "node-1" || node == nodes;
  }
  return {"NUMA", cat(nodes.empty() ? "one node" : nodes, gpus), "one node, the GPU's", "--cpus of the GPU's node", good};
}

MachineFinding gpu_clocks(const Look&) {
  std::string why, found;
  bool good = true;
  for (const GpuState& gpu : gpu_states(&why)) {
    found += (found.empty() ? "" : "; ") + text(gpu);
    good &= gpu.persistent && gpu.slowed_by.empty();
  }
  return {"GPU clocks", found.empty() ? why : found, "kept awake and locked", "sudo nvidia-smi -pm 1; sudo nvidia-smi -lgc CLOCK", good};
}

}  // namespace

std::optional<MachineLoad> machine_load(const std::string& root) {
  const Look look{root, {}};
  MachineLoad load;
  if (!(std::istringstream(look.text("/proc/loadavg")) >> load.threads)) return std::nullopt;
  load.cpus = static_cast<int>(parse_cpu_list(look.text(kPresent)).size());
  load.busy = load.threads >= std::max(load.cpus, 1) / 2.0;
  return load;
}

std::string text(const MachineLoad& load) {
  return cat("load average ", std::round(load.threads * 10) / 10, " on ", load.cpus, load.cpus == 1 ? " CPU" : " CPUs");
}

std::vector<MachineFinding> look_at_machine(const std::vector<int>& cpus, const std::string& root) {
  require(!cpus.empty(), ErrorKind::invalid_argument, "say which CPUs are looked at");
  const Look look{root, cpus};
  const std::string present = look.text(kPresent);
  require(!present.empty() && !look.folder("/proc").empty(), ErrorKind::io, "the machine cannot be looked at: ", root,
          present.empty() ? kPresent : "/proc", " is empty or not there; mount /proc and /sys");
  for (const int cpu : missing(cpus, parse_cpu_list(present)))
    fail(ErrorKind::invalid_argument, cat("CPU ", cpu, " does not exist; there are ", present));
  constexpr std::array topics = {other_work, isolated,   tickless, no_callbacks, governor, sleep_states, siblings,
                                 interrupts, huge_pages, swap,     throttling,   clock,    numa,         gpu_clocks};
  std::vector<MachineFinding> all;
  for (const auto topic : topics) all.push_back(topic(look));
  return all;
}

}  // namespace tenfold
