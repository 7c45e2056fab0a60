// Ports that answer HTTP/1.1: connections that stay open, limits, timeouts, compression.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "net/http_message.h"

namespace tenfold::server {

struct HttpLimits {
  std::size_t body_bytes = std::size_t{64} << 20;      // as sent, and decompressed
  std::size_t header_bytes = 16 << 10;
  std::size_t headers = 100;
  std::size_t chunks = 65536;
  std::size_t connections = 10000;
  std::chrono::seconds read_timeout{30};               // of a head; of a body: this, and a second for each 100 kB. Of writing, likewise
  std::chrono::seconds idle_timeout{120};              // until the next request of a connection
};

class HttpServer {
 public:
  explicit HttpServer(int threads);
  ~HttpServer();                                        // stop(0 s)
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Opens a port, 0 for one that is free, and returns it. Throws Error(io) which names address and port.
  std::uint16_t listen(const std::string& address, std::uint16_t port, HttpHandler handler, HttpLimits limits = {});
  // The same on a socket that listens already, which this server closes in the end: other processes that have it go on with it.
  std::uint16_t listen(int socket, HttpHandler handler, HttpLimits limits = {});
  // Leaves connections that are not accepted yet to others who have the socket. Open ones are served as before.
  void stop_accepting();
  // From now on a connection ends with its next response. Returns when all have ended, or after `patience`: true, all have.
  bool finish_connections(std::chrono::milliseconds patience);
  // Accepts no more connections, lets those that have a request finish it, closes the others. Returns whether all were closed within
  // `patience`.
  bool stop(std::chrono::milliseconds patience);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold::server
