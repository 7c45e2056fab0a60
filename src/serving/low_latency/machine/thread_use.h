// What the system did to a thread: page faults, and how often it took the CPU away.
#pragma once

#include <cstdint>

namespace tenfold::low_latency {

struct ThreadUse {
  bool known = false;
  std::int64_t page_faults = 0, forced_switches = 0;   // since it began
};
ThreadUse use_of_thread(int id);   // of this process

}  // namespace tenfold::low_latency
