// What stands between ports and models: keys, TLS, limits of connections and memory. From flags.
#pragma once

#include <memory>

#include "grpc_front.h"
#include "net/http_server.h"
#include "routes/router.h"
#include "security/security.h"
#include "serve/serve_flags.h"

namespace tenfold::server {

// Those of HTTP's port, and of that of metrics; nothing: without TLS. Throws Error where a file is missing.
std::optional<TlsFiles> http_tls_files(const cli::SecurityFlags& flags);

class Guards {
 public:
  explicit Guards(const cli::ServeOptions& options);   // Throws Error
  HttpPortOptions http_port(const Router& router) const;
  GrpcOptions grpc_port(int socket) const;
  std::string http_scheme() const;
  int network_threads() const;                   // of HTTP
  void read_files_again();                       // and logs which

 private:
  cli::ServeOptions options_;
  int processors_ = 1;
  std::shared_ptr<Security> security_;
  std::shared_ptr<ByteBudget> budget_;
};

}  // namespace tenfold::server
