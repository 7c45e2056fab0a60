// One connection: requests one after the other, each with its response. Files that include this compile Asio.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "net/http_server.h"

namespace tenfold::server {

class HttpConnection {
 public:
  virtual ~HttpConnection() = default;
  virtual void close_if_idle() = 0;              // from any thread: closes it where no request is under way
};

// The connections that are open. Thread safe.
class OpenConnections {
 public:
  std::atomic<bool> finishing = false;           // a connection ends with its next response
  std::atomic<bool> stopping = false;            // those without a request end, too
  std::atomic<std::size_t> count = 0;
  void add(const std::shared_ptr<HttpConnection>& connection);
  void remove(const HttpConnection* connection);
  std::vector<std::shared_ptr<HttpConnection>> all() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const HttpConnection*, std::weak_ptr<HttpConnection>> connections_;
};

// What the connections of a port share.
struct HttpPort {
  HttpHandler handler;
  HttpPortOptions options;
  std::shared_ptr<OpenConnections> open;         // of all ports
  std::shared_ptr<std::atomic<std::size_t>> count = std::make_shared<std::atomic<std::size_t>>(0);   // of this one
};

void start_connection(boost::asio::ip::tcp::socket socket, std::shared_ptr<const HttpPort> port);

}  // namespace tenfold::server
