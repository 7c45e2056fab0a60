#include "connection.h"

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace tenfold::load {

Connection::Connection(const sockaddr_in& address) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
  if (descriptor_ < 0) throw std::runtime_error(std::string("no socket: ") + std::strerror(errno));
  const int on = 1;
  ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 && errno != EINPROGRESS) {
    const int error = errno;
    ::close(descriptor_);
    throw std::runtime_error(std::string("cannot connect: ") + std::strerror(error));
  }
}

Connection::~Connection() { ::close(descriptor_); }

void Connection::write() {
  while (open_ && wants_write()) {
    const ssize_t sent = ::send(descriptor_, out_.data() + written_, out_.size() - written_, MSG_NOSIGNAL);
    if (sent < 0) {
      open_ = errno == EAGAIN || errno == EINTR || errno == ENOTCONN;   // the last: it is not connected yet
      return;
    }
    written_ += static_cast<std::size_t>(sent);
  }
  if (!wants_write()) out_.clear(), written_ = 0;
}

bool Connection::read(char* buffer, std::size_t size, std::size_t& count) {
  const ssize_t got = ::recv(descriptor_, buffer, size, 0);
  if (got > 0) return count = static_cast<std::size_t>(got), true;
  if (got == 0 || (errno != EAGAIN && errno != EINTR && errno != ENOTCONN)) open_ = false;
  return false;
}

}  // namespace tenfold::load
