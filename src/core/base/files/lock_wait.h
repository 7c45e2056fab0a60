// Waiting for a lock that another process holds, as long as that process works.
#pragma once

#include <chrono>
#include <string>

#include "base/log.h"

namespace tenfold {

// Who holds the flock of an open file, as far as /proc says.
struct LockHolder {
  int process = 0;              // 0: not visible from here (another container, another machine)
  bool stopped = false;         // by a signal or a debugger
  long long processor_time = 0; // clock ticks of the process and of those that it started
  std::string text() const;     // "process 12 ('python3')"
};
LockHolder holder_of_lock(int descriptor);

// Takes the flock of `descriptor`, the file at `path`. After a second the log says who holds it. Throws io once the holder has used no
// processor time for `patience`, or is not visible and that long has passed. Can be interrupted (tenfold/internal/interrupts.h).
void wait_for_lock(int descriptor, const std::string& path, const Log& log, std::chrono::milliseconds patience);

}  // namespace tenfold
