#include "base/threads/cpu_places.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>

namespace tenfold {
namespace {

constexpr int kMaxCpus = CPU_SETSIZE;   // what a plain mask can name

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;   // more CPUs than a plain mask can name
  for (int cpu = 0; cpu < kMaxCpus; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  return cpus;
}

// The least CPU of the core, itself if the system does not say. The newer name first.
int core_key(int cpu, const std::string& root) {
  for (const char* name : {"core_cpus_list", "thread_siblings_list"}) {
    const std::vector<int> list = parse_cpu_list(first_line(root + "/cpu" + std::to_string(cpu) + "/topology/" + name));
    if (std::find(list.begin(), list.end(), cpu) != list.end()) return *std::min_element(list.begin(), list.end());
  }
  return cpu;
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  const char *at = text.data(), *end = at + text.size();
  const auto number = [&](int& value) {
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0 || value >= kMaxCpus) return false;
    return at = next, true;
  };
  for (int first = 0, last = 0; number(first);) {
    last = first;
    if (at != end && *at == '-' && (++at, !number(last))) break;
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (at == end || *at++ != ',') break;
  }
  return cpus;
}

CpuPlaces::CpuPlaces(const std::vector<int>& allowed, const std::string& root) {
  std::map<int, std::vector<int>> members;
  const bool hyperthreads = first_line(root + "/smt/active") != "0";   // without, a file for each CPU need not be read
  for (const int cpu : allowed) {
    if (cpu < 0 || cpu >= kMaxCpus) continue;
    const int core = hyperthreads ? core_key(cpu, root) : cpu;
    for (int next = static_cast<int>(core_of_.size()); next <= cpu; ++next) core_of_.push_back(next);
    core_of_[static_cast<std::size_t>(cpu)] = core;
    members[core].push_back(cpu);
  }
  cores_ = static_cast<int>(members.size());
  for (std::size_t turn = 0, before = 1; before != order_.size() || turn == 0; ++turn) {
    before = order_.size();
    for (const auto& [core, cpus] : members)
      if (turn < cpus.size()) order_.push_back(cpus[turn]);
  }
}

CpuPlaces CpuPlaces::of_this_thread() { return {allowed_cpus(), "/sys/devices/system/cpu"}; }

bool stay_on(const std::vector<int>& cpus) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus)
    if (cpu >= 0 && cpu < kMaxCpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  return CPU_COUNT(&set) > 0 && sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace tenfold
