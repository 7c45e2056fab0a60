#include "net/request_http.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

[[noreturn]] void no_answer(const std::string& why) { throw Error(ErrorKind::io, why); }

// A connection that waits until a moment and no longer.
class OneRequest {
 public:
  explicit OneRequest(std::chrono::milliseconds patience) : until_(std::chrono::steady_clock::now() + patience) {}
  ~OneRequest() {
    tls_.reset();
    if (socket_ >= 0) ::close(socket_);
  }
  OneRequest(const OneRequest&) = delete;
  OneRequest& operator=(const OneRequest&) = delete;

  void connect(const RequestedPort& port);
  void write(std::string_view bytes);
  std::string read_head();                       // as much of it as came in one piece

 private:
  void wait(short what) const;
  // Whether it was done; false after waiting for what it needs first.
  bool done(TlsResult result) const;

  const std::chrono::steady_clock::time_point until_;
  int socket_ = -1;
  std::unique_ptr<TlsSession> tls_;
};

void OneRequest::wait(short what) const {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(until_ - std::chrono::steady_clock::now()).count();
  pollfd watched{socket_, what, 0};
  const int ready = left > 0 ? ::poll(&watched, 1, static_cast<int>(left)) : 0;
  if (ready < 0 && errno == EINTR) return;
  if (ready <= 0) no_answer("it does not answer in time");
}

bool OneRequest::done(TlsResult result) const {
  switch (result) {
    case TlsResult::done: return true;
    case TlsResult::wants_read: wait(POLLIN); return false;
    case TlsResult::wants_write: wait(POLLOUT); return false;
    default: no_answer("TLS fails: where clients need a certificate, the server's own must be one of those that it takes");
  }
}

std::string numeric_address(const std::string& address) {
  if (address == "0.0.0.0" || address == "localhost") return "127.0.0.1";
  return address == "::" ? "::1" : address;
}

void OneRequest::connect(const RequestedPort& port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, hints.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(numeric_address(port.address).c_str(), std::to_string(port.port).c_str(), &hints, &found) != 0)
    no_answer("'" + port.address + "' is no address");
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> held(found, ::freeaddrinfo);
  socket_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_ < 0) no_answer(std::strerror(errno));
  int error = ::connect(socket_, found->ai_addr, found->ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    wait(POLLOUT);
    socklen_t size = sizeof error;
    ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error != 0) no_answer(std::strerror(error));
  if (port.tls) tls_ = open_client_session(socket_, *port.tls);
}

void OneRequest::write(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t count = 0;
    if (tls_) {
      if (!done(tls_->write(bytes.data(), bytes.size(), count))) continue;
    } else {
      const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN && errno != EINTR) no_answer(std::strerror(errno));
      if (sent < 0) {
        wait(POLLOUT);
        continue;
      }
      count = static_cast<std::size_t>(sent);
    }
    bytes.remove_prefix(count);
  }
}

std::string OneRequest::read_head() {
  char bytes[512];
  for (std::size_t count = 0;;) {
    if (tls_) {
      if (done(tls_->read(bytes, sizeof bytes, count))) return {bytes, count};
      continue;
    }
    const auto got = ::recv(socket_, bytes, sizeof bytes, 0);
    if (got >= 0) return {bytes, static_cast<std::size_t>(got)};
    if (errno != EAGAIN && errno != EINTR) no_answer(std::strerror(errno));
    wait(POLLIN);
  }
}

}  // namespace

std::string url_of(const RequestedPort& port, const std::string& path) {
  const std::string address = numeric_address(port.address);
  const bool bracketed = address.find(':') != std::string::npos;
  return (port.tls ? "https://" : "http://") + (bracketed ? "[" + address + "]" : address) + ":" + std::to_string(port.port) + path;
}

int request_http(const RequestedPort& port, const std::string& path, const std::optional<std::pair<std::string, std::string>>& header,
             std::chrono::milliseconds patience) {
  OneRequest request(patience);
  request.connect(port);
  request.write("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
               (header ? header->first + ": " + header->second + "\r\n" : "") + "\r\n");
  std::string head;
  constexpr std::size_t kStatus = std::string_view("HTTP/1.1 200").size();
  while (head.size() < kStatus) {
    const std::string more = request.read_head();
    if (more.empty()) no_answer("it closes the connection");
    head += more;
  }
  const bool digits = std::all_of(head.begin() + kStatus - 3, head.begin() + kStatus, [](char c) { return c >= '0' && c <= '9'; });
  if (!head.starts_with("HTTP/1.") || !digits) no_answer("what it answers is no HTTP");
  return std::stoi(head.substr(kStatus - 3, 3));
}

}  // namespace tenfold::server
