// A GET to a server on this machine, for probes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "net/tls.h"

namespace tenfold::server {

struct RequestedPort {
  std::string address = "127.0.0.1";             // where it listens; one that means all addresses is asked over loopback
  std::uint16_t port = 0;
  std::optional<TlsFiles> tls;                   // the server's
};
std::string url_of(const RequestedPort& port, const std::string& path);
// The status of the response. Throws Error(io), which says why there is none within `patience`.
int request_http(const RequestedPort& port, const std::string& path, const std::optional<std::pair<std::string, std::string>>& header,
             std::chrono::milliseconds patience);

}  // namespace tenfold::server
