// How a supervisor starts a worker, which is the same program: the descriptors that it has from its parent, as a first argument
// "--worker=HTTP,METRICS,GRPC,LINK,WHEN"; and what the two say to each other over the link, a byte each.
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
  Accept accept = Accept::at_once;
};

// From the worker: it serves; a device is lost to its process. From the supervisor: end as at SIGTERM; end when the connections that
// there are have their answers, for another worker serves.
enum class Message : char { ready = 'R', lost = 'L', stop = 'S', hand_over = 'H' };

bool send(const Descriptor& link, Message message) noexcept;

std::string worker_argument(const Sockets& sockets, const Descriptor& link, Accept accept);
// Nothing: it is no such argument. Throws std::runtime_error for one that is wrong.
std::optional<WorkerStart> parse_worker_argument(const std::string& argument);

}  // namespace tenfold::server
