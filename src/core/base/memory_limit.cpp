#include "base/memory_limit.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>

#include "base/cgroups.h"
#include "base/check.h"

namespace tenfold {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;   // version 1 writes a number near 2^63 for no limit

// Nothing where the file is not there or says "max".
std::optional<std::int64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (!(file >> value) || value < 0 || value >= kUnlimited) return {};
  return value;
}

// Of memory.stat: files in memory, which the kernel drops before it ends anybody.
std::int64_t droppable(const CgroupFolder& folder) {
  std::ifstream file(folder.path + "/memory.stat");
  const std::string prefix = folder.version == 1 ? "total_" : "";
  std::int64_t sum = 0, value = 0;
  for (std::string key; file >> key >> value;)
    if (key == prefix + "inactive_file" || key == prefix + "active_file") sum += value;
  return sum;
}

// Bytes of swap that the group may still use.
std::int64_t swap_left(const CgroupFolder& folder, std::int64_t memory_limit, std::int64_t swap_free) {
  if (swap_free <= 0) return 0;
  const bool new_form = folder.version == 2;
  const auto limit = number_in(folder.path + (new_form ? "/memory.swap.max" : "/memory.memsw.limit_in_bytes"));
  if (!limit) return swap_free;
  const std::int64_t max = new_form ? *limit : std::max<std::int64_t>(*limit - memory_limit, 0);   // version 1 counts both together
  const std::int64_t used = new_form ? number_in(folder.path + "/memory.swap.current").value_or(0) : 0;
  return std::clamp<std::int64_t>(max - used, 0, swap_free);
}

std::optional<MemoryLimit> limit_of_process() {
  struct sysinfo system {};
  const std::int64_t swap =
      ::sysinfo(&system) == 0 ? static_cast<std::int64_t>(system.freeswap) * static_cast<std::int64_t>(system.mem_unit) : 0;
  return min_memory_left(own_cgroups(), kCgroupRoot, swap);
}

}  // namespace

std::optional<MemoryLimit> min_memory_left(std::string_view membership, std::string_view root, std::int64_t swap_free) {
  std::optional<MemoryLimit> min;
  for (const CgroupFolder& folder : cgroup_folders(membership, root, "memory")) {
    const bool new_form = folder.version == 2;
    const std::string file = folder.path + (new_form ? "/memory.max" : "/memory.limit_in_bytes");
    const auto limit = number_in(file), used = number_in(folder.path + (new_form ? "/memory.current" : "/memory.usage_in_bytes"));
    if (!limit || !used) continue;
    const std::int64_t taken = std::max<std::int64_t>(*used - droppable(folder), 0);
    const std::int64_t left = std::max<std::int64_t>(*limit - taken, 0) + swap_left(folder, *limit, swap_free);
    if (!min || left < min->left) min = {*limit, left, file};
  }
  return min;
}

void expect_memory(std::int64_t bytes, const char* what) {
  constexpr std::int64_t kStep = 16 << 20;
  static std::atomic<std::int64_t> since{0};   // the last look
  if (since.fetch_add(bytes, std::memory_order_relaxed) + bytes < kStep) return;
  since.store(0, std::memory_order_relaxed);
  const std::optional<MemoryLimit> limit = limit_of_process();
  require(!limit || bytes <= limit->left, ErrorKind::out_of_memory, "cannot allocate ", bytes, " bytes of ", what,
          " (the cgroup's limit of ", limit ? limit->limit : kNone, " bytes leaves ", limit ? limit->left : kNone, ": ",
          limit ? limit->file : "", ")");
}

bool has_memory(std::int64_t bytes) noexcept {
  try {
    const std::optional<MemoryLimit> limit = limit_of_process();
    return !limit || bytes <= limit->left;
  } catch (...) {
    return true;
  }
}

}  // namespace tenfold
