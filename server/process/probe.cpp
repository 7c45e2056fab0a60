#include "process/probe.h"

#include <csignal>
#include <cstdio>

#include "process/guards.h"
#include "process/sockets.h"
#include "security/restrictions.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

constexpr std::chrono::seconds kPatience{3};

}  // namespace

std::optional<RequestedPort> health_port(const cli::ServeOptions& options) {
  if (!options.http.enabled && !options.http.metrics) return std::nullopt;
  RequestedPort port;
  port.address = options.http.enabled ? http_address(options) : metrics_address(options);
  port.port = static_cast<std::uint16_t>(options.http.enabled ? options.http.port : options.http.metrics_port);
  port.tls = http_tls_files(options.security);
  return port;
}

std::string request_health(const RequestedPort& port, const std::string& what, const cli::SecurityFlags& security,
                       std::chrono::milliseconds patience) {
  const Restrictions restrictions("http-restricted-api", security.http_restricted);
  std::optional<std::pair<std::string, std::string>> header;
  if (const auto* restricted = restrictions.of(Api::health)) header = *restricted;
  const std::string path = "/v2/health/" + what;
  std::string why;
  try {
    const int status = request_http(port, path, header, patience);
    if (status == 200) return {};
    why = "it answers " + std::to_string(status);
  } catch (const Error& error) {
    why = error.what();
  }
  return "not " + what + ": " + url_of(port, path) + ": " + why;
}

int probe(const cli::ServeOptions& options) {
  const std::optional<RequestedPort> port = health_port(options);
  if (!port) throw cli::UsageError("--probe asks the port of HTTP, or of metrics, and neither is open: leave out --allow-http=false");
  if (port->port == 0) throw cli::UsageError("--probe needs the port that the server has: give --http-port=N, not 0");
  std::signal(SIGPIPE, SIG_IGN);                 // TLS writes without MSG_NOSIGNAL
  const std::string why = request_health(*port, options.process.probe, options.security, kPatience);
  if (why.empty()) return 0;
  std::fprintf(stderr, "tenfold-server: %s\n", why.c_str());
  return 1;
}

}  // namespace tenfold::server
