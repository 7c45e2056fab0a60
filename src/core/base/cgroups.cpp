#include "base/cgroups.h"

#include <fstream>
#include <sstream>

namespace tenfold {
namespace {

bool has_word(std::string_view list, std::string_view word) {
  std::istringstream words{std::string(list)};
  for (std::string one; std::getline(words, one, ',');)
    if (one == word) return true;
  return false;
}

void add_with_ancestors(const std::string& mount, std::string path, int version, std::vector<CgroupFolder>& folders) {
  for (;;) {
    folders.push_back({mount + path, version});
    if (path.empty()) return;
    path.erase(path.find_last_of('/'));
  }
}

}  // namespace

std::vector<CgroupFolder> cgroup_folders(std::string_view membership, std::string_view root, std::string_view controller) {
  std::vector<CgroupFolder> folders;
  std::istringstream lines{std::string(membership)};
  for (std::string line; std::getline(lines, line);) {   // "hierarchy:controllers:path"
    const std::size_t first = line.find(':'), second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), mount(root);
    std::string path = line.substr(second + 1);
    if (path.empty() || path[0] != '/' || path == "/") path.clear();
    if (controllers.empty()) {
      add_with_ancestors(mount, path, 2, folders);
    } else if (has_word(controllers, controller)) {
      add_with_ancestors(mount + "/" + controllers, path, 1, folders);
      if (controllers != controller) add_with_ancestors(mount + "/" + std::string(controller), path, 1, folders);
    }
  }
  return folders;
}

std::string own_cgroups() {
  std::ifstream file("/proc/self/cgroup");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace tenfold
