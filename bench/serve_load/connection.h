// Connection: a client's socket, with one call at a time. It does not block.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tenfold::load {

struct Answer {
  int status = 0;                  // HTTP's, or gRPC's with 0 for ok
  bool ok = false;
  bool refused = false;            // unavailable: the queue is full, or the request's timeout passed
  bool closes = false;             // the server ends the connection
  std::string body;                // or why there is none
};

class Connection {
 public:
  explicit Connection(const sockaddr_in& address);   // throws std::runtime_error
  virtual ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int descriptor() const { return descriptor_; }
  virtual void send(std::string_view request) = 0;
  // Sends a part of a request, whose rest never comes.
  virtual void send_part(std::string_view request, std::size_t bytes) = 0;
  // Ends the call without its answer. false: only by the end of the connection.
  virtual bool cancel() = 0;
  // Writes what is left, reads what has come. An answer, if the call's is whole. `open` is false after the connection's end.
  virtual std::optional<Answer> advance() = 0;
  bool open() const { return open_; }
  bool wants_write() const { return written_ < out_.size(); }

 protected:
  void write();
  bool read(char* buffer, std::size_t size, std::size_t& count);   // false: nothing has come

  std::string out_;
  std::size_t written_ = 0;
  bool open_ = true;

 private:
  int descriptor_;
};

std::unique_ptr<Connection> connect_http(const sockaddr_in& address);
// Throws where the program was built without nghttp2.
std::unique_ptr<Connection> connect_grpc(const sockaddr_in& address, const std::string& authority);

}  // namespace tenfold::load
