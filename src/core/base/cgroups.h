// The control groups that this process is in, of both versions: where limits of them are read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenfold {

struct CgroupFolder {
  std::string path;
  int version = 2;
};

// Those that may limit `controller` ("cpu", "memory"), the process's own before its ancestors; they need not exist. `membership` is the
// text of /proc/self/cgroup, `root` the folder where cgroups are mounted. A container often sees the host's path but mounts only its own
// part of the tree, whose top is the last folder of each version.
std::vector<CgroupFolder> cgroup_folders(std::string_view membership, std::string_view root, std::string_view controller);

std::string own_cgroups();   // the text of /proc/self/cgroup
inline constexpr const char* kCgroupRoot = "/sys/fs/cgroup";

}  // namespace tenfold
