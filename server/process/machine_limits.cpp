#include "process/machine_limits.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <thread>

namespace tenfold::server {
namespace {

// Calls `look` with each folder of the process's cgroups that may limit `controller`, the own one before its ancestors; `version` 1 or 2.
// A container often sees the host's path and mounts its own part only, whose top is the last folder.
void each_folder(const std::string& root, const std::string& controller, const std::function<void(const std::string&, int version)>& look) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {   // "hierarchy:controllers:path"
    const std::size_t first = line.find(':'), second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && ("," + controllers + ",").find("," + controller + ",") == std::string::npos) continue;
    const std::string mount = root + "/sys/fs/cgroup" + (controllers.empty() ? "" : "/" + controller);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    for (;; path.erase(path.find_last_of('/'))) {
      look(mount + path, controllers.empty() ? 2 : 1);
      if (path.find('/') == std::string::npos) break;
    }
  }
}

// Less than 0: there is none, or "max".
double number_in(const std::string& path) {
  std::ifstream file(path);
  double value = -1;
  return file >> value ? value : -1;
}

int allowed_processors() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

std::uint64_t memory_of_process(const std::string& root) {
  double least = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  each_folder(root, "memory", [&](const std::string& folder, int version) {
    const double limit = number_in(folder + (version == 2 ? "/memory.max" : "/memory.limit_in_bytes"));
    if (limit >= 0) least = std::min(least, limit);   // version 1 writes a number near 2^63 for none
  });
  return static_cast<std::uint64_t>(least);
}

int processors_of_process(const std::string& root) {
  double least = allowed_processors();
  each_folder(root, "cpu", [&](const std::string& folder, int version) {
    double quota = -1, period = -1;
    if (version == 2) {
      std::ifstream file(folder + "/cpu.max");
      if (!(file >> quota >> period)) return;      // "max 100000"
    } else {
      quota = number_in(folder + "/cpu.cfs_quota_us"), period = number_in(folder + "/cpu.cfs_period_us");
    }
    if (quota > 0 && period > 0) least = std::min(least, quota / period);
  });
  return std::max(1, static_cast<int>(std::ceil(least)));
}

std::uint64_t raise_descriptor_limit(std::uint64_t connections) {
  constexpr std::uint64_t kOthers = 512;           // models, caches, devices
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, connections + kOthers);
  if (wanted > limit.rlim_cur) {
    const rlimit raised{wanted, limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return limit.rlim_cur;
}

}  // namespace tenfold::server
