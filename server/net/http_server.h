// Ports that answer HTTP/1.1: connections that stay open, limits, timeouts, compression.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/byte_budget.h"
#include "net/http_message.h"
#include "net/tls.h"

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

struct HttpPortOptions {
  HttpPortOptions() = default;
  HttpPortOptions(HttpLimits limits) : limits(limits) {}   // NOLINT: ports without more give their limits
  HttpLimits limits;
  std::shared_ptr<ByteBudget> budget;            // of all ports together; null: none
  std::shared_ptr<const Tls> tls;                // null: without
  // Asked when a head is there, before its body is read; a response refuses the request. Null: all are admitted.
  std::function<std::optional<HttpResponse>(const HttpRequest& head, bool from_this_machine)> admit;
  // The response to a request for which the budget has no room. Null: 503, with words in JSON.
  std::function<HttpResponse(const HttpRequest& head, const std::string& why)> overloaded;
};

class HttpServer {
 public:
  explicit HttpServer(int threads);
  ~HttpServer();                                        // stop(0 s)
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Opens a port, 0 for one that is free, and returns it. Throws Error(io) which names address and port.
  std::uint16_t listen(const std::string& address, std::uint16_t port, HttpHandler handler, HttpPortOptions options = {});
  // The same on a socket that listens already, which this server closes in the end: other processes that have it go on with it.
  std::uint16_t listen(int socket, HttpHandler handler, HttpPortOptions options = {});
  // Leaves connections that are not accepted yet to others who have the socket. An open one ends with its next response.
  void stop_accepting();
  // Returns when all connections have ended, or after `patience`: true, all have.
  bool wait_for_connections(std::chrono::milliseconds patience);
  // Accepts no more connections, lets those that have a request finish it, closes the others. Returns whether all were closed within
  // `patience`.
  bool stop(std::chrono::milliseconds patience);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold::server
