// How long a thread keeps a processor while others wait for it.
//
// From Linux 6.12 on, a thread that wakes up takes the processor at once from one whose slice is longer; else it may wait for the next
// tick, 4 ms and more. Threads that wait for requests ask for short slices, work that nobody waits for asks for long ones. Older kernels
// take the call and do not heed it.
#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tenfold {

// The least and the most that the kernel takes.
constexpr std::chrono::nanoseconds kShortSlice = std::chrono::microseconds(100), kLongSlice = std::chrono::milliseconds(100);

// Of the thread with this number, 0: of the one that calls. Its niceness becomes at least `niceness`; threads that it starts have the
// same. False, and nothing changes: the system refuses, or the user gave it another policy than SCHED_OTHER (chrt, systemd).
inline bool set_processor_slice(pid_t thread, std::chrono::nanoseconds slice, int niceness = -20) noexcept {
  if (::sched_getscheduler(thread) != SCHED_OTHER) return false;
  struct {   // sched_attr, for which glibc 2.36 has no name
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime_ns, deadline_ns, period_ns;
  } wanted{};
  static_assert(sizeof wanted == 48);
  wanted.size = sizeof wanted, wanted.policy = SCHED_OTHER, wanted.runtime_ns = static_cast<std::uint64_t>(slice.count());
  wanted.nice = std::max(::getpriority(PRIO_PROCESS, static_cast<id_t>(thread)), niceness);
  return ::syscall(SYS_sched_setattr, thread, &wanted, 0) == 0;
}

}  // namespace tenfold
