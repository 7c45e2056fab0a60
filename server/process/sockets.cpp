#include "process/sockets.h"

#include <unistd.h>

#include "net/listen_socket.h"

namespace tenfold::server {
namespace {

Descriptor open_socket(const std::string& address, int port) {
  return Descriptor(open_listen_socket(address, static_cast<std::uint16_t>(port)));
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
  if (options.http.enabled) sockets.http = open_socket(http_address(options), options.http.port);
  if (options.http.metrics) sockets.metrics = open_socket(metrics_address(options), options.http.metrics_port);
  const int grpc_port = options.grpc.port >= 0 ? options.grpc.port : options.http.port == 0 ? 0 : kGrpcPort;
  if (options.grpc.enabled && with_grpc) sockets.grpc = open_socket(grpc_address(options), grpc_port);
  return sockets;
}

}  // namespace tenfold::server
