// In place of grpc_connection.cpp where nghttp2 is not installed.
#include <stdexcept>

#include "connection.h"

namespace tenfold::load {

std::unique_ptr<Connection> connect_grpc(const sockaddr_in&, const std::string&) {
  throw std::runtime_error("serve_load was built without gRPC: it needs libnghttp2-dev");
}

}  // namespace tenfold::load
