#include "process/guards.h"

#include <algorithm>

#include "observe/log.h"
#include "process/machine_limits.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

using cli::ServeOptions;

std::optional<TlsFiles> tls_files(const cli::TlsFlags& flags, const std::string& port) {
  if (!flags.enabled && !flags.mutual) return std::nullopt;
  const auto need = [&](const std::string& file, const char* flag) {
    if (file.empty()) throw Error(ErrorKind::invalid_argument, "TLS of " + port + " needs --" + port + flag + "=FILE, a PEM file");
  };
  need(flags.certificate, "-server-cert");
  need(flags.key, "-server-key");
  if (flags.mutual) need(flags.root, "-root-cert");
  return TlsFiles{flags.certificate, flags.key, flags.root, flags.mutual};
}

SecurityOptions security_options(const cli::SecurityFlags& flags) {
  SecurityOptions security;
  security.api_key_file = flags.api_key_file, security.api_key = flags.api_key;
  security.http_restricted = flags.http_restricted, security.grpc_restricted = flags.grpc_restricted;
  security.http_tls = http_tls_files(flags), security.grpc_tls = tls_files(flags.grpc, "grpc");
  return security;
}

std::size_t bytes_in_flight(const ServeOptions& options) {
  const auto given = static_cast<std::size_t>(options.limits.bytes_in_flight);
  return given > 0 ? given : static_cast<std::size_t>(memory_of_process() / 4);
}

}  // namespace

std::optional<TlsFiles> http_tls_files(const cli::SecurityFlags& flags) { return tls_files(flags.http, "http"); }

Guards::Guards(const ServeOptions& options)
    : options_(options),
      processors_(processors_of_process()),
      security_(std::make_shared<Security>(security_options(options.security))),
      budget_(std::make_shared<ByteBudget>(bytes_in_flight(options))) {
  // Of HTTP, of gRPC, and of metrics, which has as many at most.
  const auto connections = static_cast<std::uint64_t>(options.http.connections);
  raise_descriptor_limit(3 * connections);
}

HttpPortOptions Guards::http_port(const Router& router) const {
  HttpPortOptions port;
  port.limits.body_bytes = static_cast<std::size_t>(options_.http.body_bytes);
  port.limits.connections = static_cast<std::size_t>(options_.http.connections);
  port.budget = budget_;
  port.tls = security_->http_tls();
  port.admit = [security = security_](const HttpRequest& head, bool from_this_machine) {
    return security->admit_http(head, from_this_machine);
  };
  port.overloaded = router.overloaded();
  return port;
}

GrpcOptions Guards::grpc_port(int socket) const {
  const ServeOptions& options = options_;
  GrpcOptions grpc;
  grpc.socket = socket;
  grpc.max_message_bytes = static_cast<std::size_t>(options.http.body_bytes);
  grpc.max_connections = static_cast<std::size_t>(options.http.connections);
  const std::string& level = options.grpc.compression;
  grpc.compression_level = level == "low" ? 1 : level == "medium" ? 6 : level == "high" ? 9 : 0;
  grpc.threads = std::clamp((processors_ + 1) / 2, 1, 4);
  grpc.budget = budget_, grpc.security = security_;
  return grpc;
}

std::string Guards::http_scheme() const { return security_->http_tls() ? "https" : "http"; }

int Guards::network_threads() const { return options_.http.threads > 0 ? options_.http.threads : std::clamp(processors_, 1, 8); }

void Guards::read_files_again() {
  for (const std::string& words : security_->reload()) log_info("SIGHUP: " + words);
}

}  // namespace tenfold::server
