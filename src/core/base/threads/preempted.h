// What one thread can do for another that was taken off its CPU: notice it, and offer the CPU it does not need itself. The scheduler
// leaves a thread in the queue of a busy CPU for milliseconds while another CPU is idle.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>

namespace tenfold {

// How long a thread of this process has run, in ns; stands still while it waits for a CPU. Negative: there is no such thread.
std::int64_t run_time(pid_t thread) noexcept;

// Moves a thread of this process to the calling thread's CPU, if it may run there; where it may run later stays as it was.
bool bring_here(pid_t thread) noexcept;

// Moves a thread (0: the calling one) to one of `there`, of the CPUs `allowed` it so far; it may come back.
bool move_once(pid_t thread, const cpu_set_t& there, const cpu_set_t& allowed) noexcept;

}  // namespace tenfold
