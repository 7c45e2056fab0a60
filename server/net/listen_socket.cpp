#include "net/listen_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

[[noreturn]] void fail(const std::string& address, std::uint16_t port, int error) {
  throw Error(ErrorKind::io, "cannot listen on " + address + ", port " + std::to_string(port) + ": " + std::strerror(error) +
                                 (error == EADDRINUSE ? "; choose another port" : ""));
}

}  // namespace

int open_listen_socket(const std::string& address, std::uint16_t port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, hints.ai_socktype = SOCK_STREAM;
  const std::string numeric = address == "localhost" ? "127.0.0.1" : address, service = std::to_string(port);
  if (::getaddrinfo(numeric.c_str(), service.c_str(), &hints, &found) != 0)
    throw Error(ErrorKind::invalid_argument, "'" + address + "' is no address: give one such as 127.0.0.1, 0.0.0.0 or ::");
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> held(found, ::freeaddrinfo);
  const int made = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
  if (made < 0) fail(address, port, errno);
  ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(made, found->ai_addr, found->ai_addrlen) == 0 && ::listen(made, SOMAXCONN) == 0) return made;
  const int error = errno;
  ::close(made);
  fail(address, port, error);
}

std::uint16_t port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  return address.ss_family == AF_INET6 ? ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port) : 0;
}

}  // namespace tenfold::server
