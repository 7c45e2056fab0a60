// Settings of one thread.
#pragma once

#include <string>

namespace tenfold::low_latency {

// Gives this thread a priority of SCHED_FIFO; tells why the system refuses, or nothing. Throws invalid_argument for one
// that does not exist.
std::string use_real_time(int priority);
std::string real_time_command(int priority);   // that permits it

}  // namespace tenfold::low_latency
