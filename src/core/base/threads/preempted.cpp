#include "base/threads/preempted.h"

#include <time.h>

#include <cstring>

namespace tenfold {

std::int64_t run_time(pid_t thread) noexcept {
  constexpr unsigned kOfOneThread = 4, kScheduled = 2;   // Linux's numbers of CPU clocks: ~thread above the kind of clock
  timespec time;
  if (clock_gettime(static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | kOfOneThread | kScheduled), &time) != 0) return -1;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool move_once(pid_t thread, const cpu_set_t& there, const cpu_set_t& allowed) noexcept {
  if (sched_setaffinity(thread, sizeof there, &there) != 0) return false;
  // Asking for all keeps it free to follow its container's CPUs when these change; unless it had been given fewer than those.
  cpu_set_t all, now;
  std::memset(&all, 0xff, sizeof all);
  if (sched_setaffinity(thread, sizeof all, &all) == 0 && sched_getaffinity(thread, sizeof now, &now) == 0 && CPU_EQUAL(&now, &allowed))
    return true;
  sched_setaffinity(thread, sizeof allowed, &allowed);
  return true;
}

bool bring_here(pid_t thread) noexcept {
  const int cpu = sched_getcpu();
  cpu_set_t allowed, here;
  if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(thread, sizeof allowed, &allowed) != 0) return false;
  if (!CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) return false;
  CPU_ZERO(&here);
  CPU_SET(static_cast<std::size_t>(cpu), &here);
  return move_once(thread, here, allowed);
}

}  // namespace tenfold
