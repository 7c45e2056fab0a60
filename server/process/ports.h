// All that the server listens on, and the line that says where.
#pragma once

#include "core/models.h"
#include "core/pattern_engine.h"
#include "grpc_front.h"
#include "net/http_server.h"
#include "process/guards.h"
#include "process/sockets.h"

namespace tenfold::server {

class Ports {
 public:
  // `pattern`: null where there is none.
  Ports(const cli::ServeOptions& options, const Guards& guards, std::shared_ptr<Models> models, std::shared_ptr<PatternEngine> pattern);
  void listen(Sockets& sockets);
  bool listening() const { return !line_.empty(); }
  const std::string& line() const { return line_; }
  HttpServer& http() { return http_; }
  GrpcFront* grpc() { return grpc_.get(); }      // null: there is none

 private:
  std::uint16_t listen(int socket, Router router);

  const cli::ServeOptions& options_;
  const Guards& guards_;
  const std::shared_ptr<Models> models_;
  const std::shared_ptr<PatternEngine> pattern_;
  HttpServer http_;
  std::unique_ptr<GrpcFront> grpc_;
  std::string line_;
};

}  // namespace tenfold::server
