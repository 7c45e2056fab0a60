// What is told of machines, by folders that look like one.
#include "tenfold/machine.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "tenfold/error.h"

namespace tenfold {
namespace {

namespace fs = std::filesystem;

class Machine {
 public:
  explicit Machine(const std::map<std::string, std::string>& files)
      : root_(fs::temp_directory_path() / ("machine_test_" + std::to_string(::getpid()))) {
    for (const auto& [path, text] : files) {
      fs::create_directories((root_.string() + path).substr(0, (root_.string() + path).rfind('/')));
      std::ofstream(root_.string() + path) << text << "\n";
    }
  }
  ~Machine() { fs::remove_all(root_); }
  std::map<std::string, MachineFinding> look(const std::vector<int>& cpus) const {
    std::map<std::string, MachineFinding> all;
    for (const MachineFinding& f : look_at_machine(cpus, root_.string())) all[f.topic] = f;
    return all;
  }

 private:
  fs::path root_;
};

const std::map<std::string, std::string> kPlain = {
    {"/sys/devices/system/cpu/present", "0-7"},
    {"/sys/devices/system/cpu/isolated", ""},
    {"/sys/devices/system/cpu/nohz_full", "(null)"},
    {"/proc/cmdline", "quiet"},
    {"/proc/loadavg", "4.27 3.00 2.00 5/200 1234"},
    {"/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave"},
    {"/sys/devices/system/cpu/cpu2/cpuidle/state1/name", "C1"},
    {"/sys/devices/system/cpu/cpu2/cpuidle/state1/latency", "2"},
    {"/sys/devices/system/cpu/cpu2/cpuidle/state1/disable", "0"},
    {"/sys/devices/system/cpu/cpu2/cpuidle/state3/name", "C6"},
    {"/sys/devices/system/cpu/cpu2/cpuidle/state3/latency", "133"},
    {"/sys/devices/system/cpu/cpu2/cpuidle/state3/disable", "0"},
    {"/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2,6"},
    {"/proc/irq/9/effective_affinity_list", "2"},
    {"/proc/irq/10/effective_affinity_list", "0-1"},
    {"/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]"},
    {"/proc/swaps", "Filename Type Size\n/dev/sda2 partition 100"},
    {"/proc/sys/kernel/sched_rt_runtime_us", "950000"},
    {"/proc/sys/kernel/sched_rt_period_us", "1000000"},
    {"/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet"},
    {"/sys/devices/system/node/node0/cpulist", "0-3"},
    {"/sys/devices/system/node/node1/cpulist", "4-7"},
    {"/sys/bus/pci/devices/0000:17:00.0/vendor", "0x10de"},
    {"/sys/bus/pci/devices/0000:17:00.0/class", "0x030200"},
    {"/sys/bus/pci/devices/0000:17:00.0/numa_node", "1"},
};

TEST(Machine, TellsWhatIsNotAsWanted) {
  const auto found = Machine(kPlain).look({2});
  EXPECT_EQ(found.size(), 14u);
  for (const auto& [topic, f] : found) EXPECT_TRUE(!f.good || topic == "GPU clocks") << topic << ": " << f.found;
  EXPECT_EQ(found.at("load").found, "load average 4.3 on 8 CPUs");
  EXPECT_EQ(found.at("isolcpus").found, "none");
  EXPECT_EQ(found.at("isolcpus").how, "boot with isolcpus=2");
  EXPECT_EQ(found.at("governor").found, "powersave");
  EXPECT_EQ(found.at("C-states").found, "C6 takes 133 us to leave");
  EXPECT_EQ(found.at("hyperthread").found, "CPU 6 shares a core");
  EXPECT_EQ(found.at("interrupts").found, "1 comes to these CPUs");
  EXPECT_EQ(found.at("real-time throttling").found, "50 ms of each 1000 ms are taken from threads that spin");
  EXPECT_EQ(found.at("NUMA").found, "node0; the GPU 0000:17:00.0 is at node1");
}

TEST(Machine, TellsWhatIsAsWanted) {
  auto files = kPlain;
  files["/sys/devices/system/cpu/isolated"] = files["/sys/devices/system/cpu/nohz_full"] = "2-3";
  files["/proc/cmdline"] = "quiet rcu_nocbs=2-3";
  files["/proc/loadavg"] = "3.9 9.00 9.00 5/200 1234";
  files["/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor"] = "performance";
  files["/sys/devices/system/cpu/cpu2/cpuidle/state3/disable"] = "1";
  files["/sys/devices/system/cpu/cpu2/topology/thread_siblings_list"] = "2";
  files["/proc/irq/9/effective_affinity_list"] = "0";
  files["/sys/kernel/mm/transparent_hugepage/enabled"] = "always [madvise] never";
  files["/proc/swaps"] = "Filename Type Size";
  files["/proc/sys/kernel/sched_rt_runtime_us"] = "-1";
  files["/sys/devices/system/clocksource/clocksource0/current_clocksource"] = "tsc";
  files["/sys/bus/pci/devices/0000:17:00.0/numa_node"] = "0";
  const Machine machine(files);
  for (const auto& [topic, f] : machine.look({2})) EXPECT_TRUE(f.good || topic == "GPU clocks") << topic << ": " << f.found;
  EXPECT_FALSE(machine.look({2, 4}).at("isolcpus").good);
  EXPECT_FALSE(machine.look({2, 4}).at("NUMA").good);
  EXPECT_THROW(machine.look({8}), Error);
  EXPECT_THROW(machine.look({}), Error);
}

// A container without them has nothing to look at: no CPU is denied, nothing is praised.
TEST(Machine, WithoutProcOrSys) {
  for (const std::string gone : {"/sys", "/proc"}) {
    auto files = kPlain;
    std::erase_if(files, [&](const auto& file) { return file.first.starts_with(gone + "/"); });
    try {
      Machine(files).look({2});
      ADD_FAILURE() << gone;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::io);
      EXPECT_NE(std::string(e.what()).find("mount /proc and /sys"), std::string::npos) << e.what();
    }
  }
}

TEST(Machine, HoldsWhatItMay) {
  const std::vector<int> allowed = allowed_cpus();
  ASSERT_FALSE(allowed.empty());
  EXPECT_THROW(MachineHold({.cpus = {4000}}), Error);
  EXPECT_THROW(MachineHold({.priority = 200}), Error);
  std::thread([&] {   // it stays where it is put
    const MachineHold hold({.cpus = {allowed.back()}});
    EXPECT_TRUE(hold.refused().empty());
    EXPECT_EQ(allowed_cpus(), std::vector<int>{allowed.back()});
    EXPECT_EQ(::sched_getcpu(), allowed.back());
    const MachineHold urgent({.priority = 1, .spins = true, .shallow_sleep = true});
    for (const Refusal& r : urgent.refused()) EXPECT_FALSE(r.why.empty() || r.command.empty()) << r.what;
    EXPECT_TRUE(!real_time_throttling() || !urgent.refused().empty()) << "refused, or taken away again";
  }).join();
}

}  // namespace
}  // namespace tenfold
