// How many threads this process may use: its affinity mask and its cgroup's CPU quota.
#pragma once

#include <string_view>

namespace tenfold {

// At least 1, at most kMaxWorkers.
int default_threads();
void check_threads(int threads, std::string_view of);   // 0 (all) to kMaxWorkers; throws invalid_argument, naming what is to have them
int machine_cpus();   // all that are online, whoever may use them; at least 1

// The CPU quota in whole CPUs, rounded up; 0 if there is none. `membership` is the text of /proc/self/cgroup, `root` the folder
// where cgroups are mounted. Every ancestor of the cgroup may set a limit; the least one holds.
int cgroup_cpus(std::string_view membership, std::string_view root);

}  // namespace tenfold
