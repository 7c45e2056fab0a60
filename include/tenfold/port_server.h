// Ports for other processes: rings in memory that is shared, which a server hands out over a Unix socket.
#pragma once

#include <memory>
#include <string>

#include "tenfold/export.h"
#include "tenfold/low_latency.h"

namespace tenfold {

struct PortServerOptions {
  PortOptions port;                    // of each client
  int max_clients = 8;                // at a time; further ones are refused. 1 to 1024
};

// Gives each process that connects a port of the LatencyRunner, until that process ends or closes it. Its place is then free
// for another; requests that still wait are answered to nobody. The socket can be used by this user alone (mode 0600).
// What a client writes into its rings cannot harm this process, other than by wrong inputs.
//
// Make it before the LatencyRunner's RunnerThread, and destroy it before the LatencyRunner. Its own thread sleeps but when clients
// come and go.
class TENFOLD_API PortServer {
 public:
  // Throws invalid_argument where the LatencyRunner's thread has begun, for a path that no socket can have, and for one that
  // another process serves. A socket that nobody serves any more is replaced. Throws io, out_of_memory.
  PortServer(LatencyRunner& runner, const std::string& path, const PortServerOptions& options = {});
  ~PortServer();                       // removes the socket; clients are told by RunnerPort::served()
  PortServer(const PortServer&) = delete;
  PortServer& operator=(const PortServer&) = delete;
  int clients() const noexcept;        // that are connected now

  struct State;

 private:
  std::unique_ptr<State> state_;
};

// A port of the LatencyRunner that another process serves at this path. Throws io where nobody does, and invalid_argument with
// the server's reason where it refuses: it has no place left, or is of another version.
TENFOLD_API RunnerPort connect_port(const std::string& path);

}  // namespace tenfold
