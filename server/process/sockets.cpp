#include "process/sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

constexpr int kWaiting = 4096;                   // connections that the system keeps until one is accepted

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

Address parse_address(const std::string& text, int port) {
  Address address;
  const std::string numeric = text == "localhost" ? "127.0.0.1" : text;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (::inet_pton(AF_INET, numeric.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET, v4->sin_port = htons(static_cast<std::uint16_t>(port));
    address.length = sizeof *v4;
  } else if (::inet_pton(AF_INET6, numeric.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6, v6->sin6_port = htons(static_cast<std::uint16_t>(port));
    address.length = sizeof *v6;
  } else {
    throw Error(ErrorKind::invalid_argument, "'" + text + "' is no address: give one such as 127.0.0.1, 0.0.0.0 or ::");
  }
  return address;
}

Descriptor open_socket(const std::string& text, int port) {
  const Address address = parse_address(text, port);
  const auto* const at = reinterpret_cast<const sockaddr*>(&address.storage);
  Descriptor socket(::socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (socket && ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      ::bind(socket.number(), at, address.length) == 0 && ::listen(socket.number(), kWaiting) == 0)
    return socket;
  const int error = errno;
  throw Error(ErrorKind::io, "cannot listen on " + text + ", port " + std::to_string(port) + ": " + std::strerror(error) +
                                 (error == EADDRINUSE ? "; choose another port" : ""));
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

std::string http_address(const cli::ServeOptions& options) { return options.http.address; }
std::string metrics_address(const cli::ServeOptions& options) {
  return options.http.metrics_address.empty() ? options.http.address : options.http.metrics_address;
}
std::string grpc_address(const cli::ServeOptions& options) {
  return options.grpc.address.empty() ? options.http.address : options.grpc.address;
}

Sockets open_sockets(const cli::ServeOptions& options, bool with_grpc) {
  constexpr int kGrpcPort = 8001;
  Sockets sockets;
  sockets.http = open_socket(http_address(options), options.http.port);
  if (options.http.metrics) sockets.metrics = open_socket(metrics_address(options), options.http.metrics_port);
  const int grpc_port = options.grpc.port >= 0 ? options.grpc.port : options.http.port == 0 ? 0 : kGrpcPort;
  if (options.grpc.enabled && with_grpc) sockets.grpc = open_socket(grpc_address(options), grpc_port);
  return sockets;
}

}  // namespace tenfold::server
