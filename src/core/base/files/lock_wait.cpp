// The holder of a lock is found in /proc/locks, and whether it works by the processor time of its processes.
#include "base/files/lock_wait.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>

#include "base/check.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold {
namespace {

struct Process {
  int parent = 0;
  char state = '?';
  long long ticks = 0;
  std::string name;
};

// /proc/PID/stat: "12 (name) S 1 ...", where the name may hold anything; utime and stime are the 14th and 15th field.
bool read_process(const std::filesystem::path& folder, Process& process) {
  std::ifstream file(folder / "stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return false;
  process.name = text.substr(open + 1, close - open - 1);
  std::istringstream rest(text.substr(close + 1));
  std::string skipped;
  long long user = 0, system = 0;
  rest >> process.state >> process.parent;
  for (int field = 5; field < 14; ++field) rest >> skipped;
  rest >> user >> system;
  process.ticks = user + system;
  return !rest.fail();
}

std::map<int, Process> all_processes() {
  std::map<int, Process> list;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", none)) {
    const std::string name = entry.path().filename().string();
    if (name.empty() || name.find_first_not_of("0123456789") != std::string::npos) continue;
    Process process;
    if (read_process(entry.path(), process)) list[std::atoi(name.c_str())] = process;
  }
  return list;
}

// Who builds may wait for processes that it started (kernels are compiled in some).
long long ticks_of_family(const std::map<int, Process>& all, int root) {
  std::set<int> family{root};
  long long sum = 0;
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& [pid, process] : all)
      if (family.count(process.parent) && family.insert(pid).second) grew = true;
  }
  for (const int pid : family)
    if (const auto it = all.find(pid); it != all.end()) sum += it->second.ticks;
  return sum;
}

// "1: FLOCK  ADVISORY  WRITE 12 fe:00:4711 0 EOF". Some file systems show another device there than stat() does: then the inode decides,
// where only one line has it.
int process_in_locks(const struct stat& file) {
  std::ifstream locks("/proc/locks");
  int by_inode = 0, with_inode = 0;
  for (std::string line; std::getline(locks, line);) {
    std::istringstream in(line);
    std::string number, kind, advisory, access, place;
    int pid = 0;
    if (!(in >> number >> kind >> advisory >> access >> pid >> place) || kind != "FLOCK") continue;
    unsigned major_number = 0, minor_number = 0;
    unsigned long long inode = 0;
    if (std::sscanf(place.c_str(), "%x:%x:%llu", &major_number, &minor_number, &inode) != 3 || inode != file.st_ino) continue;
    if (major_number == ::major(file.st_dev) && minor_number == ::minor(file.st_dev)) return std::max(pid, 0);
    by_inode = pid, ++with_inode;
  }
  return with_inode == 1 ? std::max(by_inode, 0) : 0;
}

}  // namespace

std::string LockHolder::text() const {
  if (process == 0) return "a process that is not visible from here";
  Process named;
  const bool known = read_process(cat("/proc/", process), named);
  return cat("process ", process, known ? cat(" ('", named.name, "')") : "");
}

LockHolder holder_of_lock(int descriptor) {
  struct stat file {};
  LockHolder holder;
  if (::fstat(descriptor, &file) != 0 || (holder.process = process_in_locks(file)) == 0) return holder;
  const std::map<int, Process> all = all_processes();
  if (const auto it = all.find(holder.process); it != all.end()) holder.stopped = it->second.state == 'T' || it->second.state == 't';
  holder.processor_time = ticks_of_family(all, holder.process);
  return holder;
}

// Looks again and again, so that who waits for another process's long work can be interrupted.
void wait_for_lock(int descriptor, const std::string& path, const Log& log, std::chrono::milliseconds patience) {
  using std::chrono::milliseconds;
  using Clock = std::chrono::steady_clock;
  constexpr milliseconds kLongestPause{50}, kBetweenLooks{500}, kSilent{1000};
  const Clock::time_point start = Clock::now();
  Clock::time_point last_work = start, next_look = start + std::min(kBetweenLooks, patience);
  LockHolder last;
  bool reported = false;
  for (milliseconds pause{1}; ::flock(descriptor, LOCK_EX | LOCK_NB) != 0; pause = std::min(2 * pause, kLongestPause)) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      fail(ErrorKind::io, cat("cannot lock '", path, "': ", std::generic_category().message(errno)));
    throw_if_cancelled();
    std::this_thread::sleep_for(pause);
    const Clock::time_point now = Clock::now();
    if (now < next_look) continue;
    next_look = now + kBetweenLooks;
    const LockHolder holder = holder_of_lock(descriptor);
    if (holder.process != last.process || holder.processor_time != last.processor_time) last_work = now;
    last = holder;
    if (!reported && now - start >= kSilent) {
      log(Severity::info, "waiting for ", holder.text(), ", which holds the lock '", path, "'");
      reported = true;
    }
    require(now - last_work < patience, ErrorKind::io, holder.text(), " holds the lock '", path, "' and ",
            holder.process == 0 ? "did not give it back" : holder.stopped ? "is stopped" : "has done nothing", " for ",
            patience.count() / 1000, " s: continue or end it");
  }
}

}  // namespace tenfold
