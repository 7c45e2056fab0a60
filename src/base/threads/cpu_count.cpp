// Reads the affinity mask and the quota files of cgroup v2 (cpu.max) and v1 (cpu.cfs_quota_us, cpu.cfs_period_us).
#include "base/threads/cpu_count.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "base/threads/parallel.h"

namespace tenfold {
namespace {

int affinity_cpus() {
  for (int size = 1024; size <= 1 << 20; size *= 4) {   // the call refuses masks smaller than the kernel's own
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(size));
    if (set == nullptr) return 1;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(size));
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    const int count = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known) return std::max(1, count);
  }
  return 1;
}

int whole_cpus(long long quota, long long period) {
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<int>(std::min<long long>((quota - 1) / period + 1, kMaxWorkers));
}

int limit_v2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  long long quota = 0, period = 0;
  return file >> quota >> period ? whole_cpus(quota, period) : 0;   // "max 100000" is no limit: the first read fails
}

int limit_v1(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us"), period_file(folder + "/cpu.cfs_period_us");
  long long quota = 0, period = 0;
  return quota_file >> quota && period_file >> period ? whole_cpus(quota, period) : 0;
}

// The least limit of `path` and its ancestors below `mount`. A container often sees the host's path but mounts only its own
// part of the tree; folders that do not exist are passed over and the mount's top is read last.
int least_limit(const std::string& mount, std::string path, int (*limit)(const std::string&)) {
  int least = 0;
  for (;;) {
    const int here = limit(mount + path);
    if (here > 0) least = least > 0 ? std::min(least, here) : here;
    if (path.empty()) return least;
    path.erase(path.find_last_of('/'));
  }
}

bool has_cpu_controller(std::string_view list) {
  std::istringstream words{std::string(list)};
  for (std::string word; std::getline(words, word, ',');)
    if (word == "cpu") return true;
  return false;
}

}  // namespace

int cgroup_cpus(std::string_view membership, std::string_view root) {
  std::istringstream lines{std::string(membership)};
  int least = 0;
  for (std::string line; std::getline(lines, line);) {   // "hierarchy:controllers:path"
    const std::size_t first = line.find(':'), second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path.empty() || path[0] != '/' || path == "/") path.clear();
    int here = 0;
    if (controllers.empty()) here = least_limit(std::string(root), path, limit_v2);
    else if (has_cpu_controller(controllers)) {
      here = least_limit(std::string(root) + "/" + controllers, path, limit_v1);
      if (here == 0) here = least_limit(std::string(root) + "/cpu", path, limit_v1);
    }
    if (here > 0) least = least > 0 ? std::min(least, here) : here;
  }
  return least;
}

int machine_cpus() { return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))); }

int default_threads() {
  int threads = affinity_cpus();
  std::ifstream file("/proc/self/cgroup");
  std::ostringstream membership;
  membership << file.rdbuf();
  if (const int quota = cgroup_cpus(membership.str(), "/sys/fs/cgroup"); quota > 0) threads = std::min(threads, quota);
  return std::clamp(threads, 1, kMaxWorkers);
}

}  // namespace tenfold
