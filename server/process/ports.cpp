#include "process/ports.h"

#include "config/start_table.h"
#include "config/text_defaults.h"
#include "observe/log.h"
#include "routes/pattern_routes.h"
#include "routes/repository_routes.h"
#include "routes/text_routes.h"
#include "routes/v2_routes.h"

namespace tenfold::server {
namespace {

Router routes_of_metrics(const std::shared_ptr<Models>& models) {
  Router router;
  add_health_routes(router, models);
  add_metrics_routes(router, models);
  return router;
}

Router routes_of_models(const std::shared_ptr<Models>& models, const cli::ServeOptions& options) {
  Router router;
  add_v2_routes(router, models);
  add_repository_routes(router, models);
  add_metrics_routes(router, models);
  add_text_routes(router, models, text_options(options));
  return router;
}

}  // namespace

Ports::Ports(const cli::ServeOptions& options, const Guards& guards, std::shared_ptr<Models> models, std::shared_ptr<PatternEngine> pattern)
    : options_(options), guards_(guards), models_(std::move(models)), pattern_(std::move(pattern)), http_(guards.network_threads()) {}

std::uint16_t Ports::listen(int socket, Router router) {
  if (logs_verbose(1))
    for (const std::string& route : router.shown()) log_verbose(1, "route " + route);
  HttpPortOptions port = guards_.http_port(router);
  return http_.listen(socket, router.handler(), std::move(port));
}

void Ports::listen(Sockets& sockets) {
  const std::string scheme = guards_.http_scheme() + "://";
  const auto url = [](const std::string& address, int port) { return shown_address(address) + ":" + std::to_string(port); };
  line_ = "ready";
  if (sockets.http) {
    Router router = routes_of_models(models_, options_);
    if (pattern_) add_pattern_routes(router, pattern_);
    line_ += " on " + scheme + url(http_address(options_), listen(sockets.http.release(), std::move(router)));
  }
  if (sockets.metrics)
    line_ += ", metrics on " + scheme +
             url(metrics_address(options_), listen(sockets.metrics.release(), routes_of_metrics(models_))) + "/metrics";
  if (!sockets.grpc) return;
  grpc_ = open_grpc(models_, guards_.grpc_port(sockets.grpc.release()));
  line_ += ", gRPC on " + url(grpc_address(options_), grpc_->port());
}

}  // namespace tenfold::server
