// What this process may have of the machine, by its control group: containers are limited by them, and other calls do not know.
#pragma once

#include <cstdint>
#include <string>

namespace tenfold::server {

// The least limit of the process's cgroup and its ancestors, of either version, or else the machine's memory. `root` is put in front of
// /proc and /sys.
std::uint64_t memory_of_process(const std::string& root = "");
// Processors: those that the process may run on (cpuset, affinity), or fewer where a quota gives it less time; at least 1.
int processors_of_process(const std::string& root = "");
// Raises the limit of open descriptors as far as the system lets it, to what so many connections need. Returns what it is then.
std::uint64_t raise_descriptor_limit(std::uint64_t connections);

}  // namespace tenfold::server
