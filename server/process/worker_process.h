// A worker as its supervisor sees it: a process, and the link to it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "process/worker_start.h"

namespace tenfold::server {

struct WorkerProcess {
  enum class State : std::uint8_t { starting, serving, leaving };   // leaving: another worker has its place

  pid_t pid = -1;
  Descriptor link;
  State state = State::starting;
  bool lost = false;                             // a device is lost to it
  std::chrono::steady_clock::time_point since;   // of the state
};

// Starts this program anew, with this command line, all sockets and the file of `models`, if there is one. The worker
// ends when this process does. Throws std::runtime_error.
WorkerProcess start_worker(std::vector<std::string> line, const Sockets& sockets, const Descriptor& models, Accept accept, int number);

// "code 1", "signal 9 (Killed)", of waitpid()'s status.
std::string how_it_ended(int status);

}  // namespace tenfold::server
