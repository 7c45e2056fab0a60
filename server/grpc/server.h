// Server: connections of gRPC on an address, each in one of a few threads.
#pragma once

#include <memory>
#include <string>

#include "grpc/call.h"
#include "grpc/limits.h"
#include "net/tls.h"

namespace tenfold::server::grpc {

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8001;  // 0: the system chooses one
  int socket = -1;                            // one that listens already, in place of address and port; the server closes it in the end
  int threads = 0;                            // that read and write; 0: one for each two processors, at most 4
  std::size_t max_connections = 10'000;       // more are closed at once
  std::shared_ptr<ByteBudget> budget;         // of the requests of all connections; null: 1 GiB
  std::shared_ptr<const Tls> tls;             // null: without
  Admit admit;                                // null: all calls are admitted
  Limits limits;
};

class Server {
 public:
  Server(Services services, ServerOptions options);
  ~Server();  // stop(0)
  // Throws Error where the address cannot be had.
  void start();
  // Leaves connections that are not accepted yet to others who have the socket. Open ones are served as before.
  void stop_accepting();
  std::uint16_t port() const;
  std::size_t connections() const;
  // Takes no new connections and no new calls, and returns when those there are have ended, or after `patience`, when the rest is
  // cancelled. false: some were.
  bool stop(std::chrono::milliseconds patience);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold::server::grpc
