// How a supervisor starts a worker, which is the same program: the descriptors that it has from its parent, as a first argument
// "--worker=HTTP,METRICS,GRPC,LINK,MODELS,WHEN,NUMBER".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "process/sockets.h"

namespace tenfold::server {

// When a worker begins to accept connections.
enum class Accept : std::uint8_t {
  at_once,   // it answers while models load: that it is alive, and not ready
  soon,      // when it is ready, or a little later than now: connections wait for it
  ready,     // when it is ready: another worker serves until then
};

struct WorkerStart {
  Sockets sockets;
  Descriptor link;                               // none: this process has no supervisor
  Descriptor models;                             // a file of what clients had loaded and unloaded; none: nothing
  Accept accept = Accept::at_once;
  int number = 1;                                // of those that the supervisor has started
};

std::string worker_argument(const Sockets& sockets, const Descriptor& link, const Descriptor& models, Accept accept, int number);
// Nothing: it is no such argument. Throws std::runtime_error for one that is wrong.
std::optional<WorkerStart> parse_worker_argument(const std::string& argument);

}  // namespace tenfold::server
