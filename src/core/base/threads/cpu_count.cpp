// Reads the affinity mask and the quota files of cgroup v2 (cpu.max) and v1 (cpu.cfs_quota_us, cpu.cfs_period_us).
#include "base/threads/cpu_count.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/cgroups.h"
#include "base/check.h"
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

}  // namespace

int cgroup_cpus(std::string_view membership, std::string_view root) {
  int min = 0;
  for (const CgroupFolder& folder : cgroup_folders(membership, root, "cpu")) {
    const int here = folder.version == 2 ? limit_v2(folder.path) : limit_v1(folder.path);
    if (here > 0) min = min > 0 ? std::min(min, here) : here;
  }
  return min;
}

void check_threads(int threads, std::string_view of) {
  require(threads >= 0 && threads <= kMaxWorkers, ErrorKind::invalid_argument, of, " of ", threads,
          " threads; 0 (all that this process may use) to ", kMaxWorkers, " were expected");
}

int machine_cpus() { return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))); }

int default_threads() {
  int threads = affinity_cpus();
  if (const int quota = cgroup_cpus(own_cgroups(), kCgroupRoot); quota > 0) threads = std::min(threads, quota);
  return std::clamp(threads, 1, kMaxWorkers);
}

}  // namespace tenfold
