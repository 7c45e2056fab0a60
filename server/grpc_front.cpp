// The services on one gRPC server.
#include "grpc_front.h"

#include "grpc/server.h"
#include "protocol/grpc_health.h"
#include "protocol/grpc_inference.h"
#include "protocol/grpc_reflection.h"

namespace tenfold::server {
namespace {

std::optional<grpc::CallStatus> status_of(const std::optional<Denial>& denial) {
  if (!denial) return std::nullopt;
  switch (denial->kind) {
    case Denial::Kind::no_key: return grpc::CallStatus{grpc::StatusCode::unauthenticated, denial->words};
    case Denial::Kind::remote_control: return grpc::CallStatus{grpc::StatusCode::permission_denied, denial->words};
    default: return grpc::CallStatus{grpc::StatusCode::unavailable, denial->words};   // as Triton has it
  }
}

class Front final : public GrpcFront {
 public:
  Front(std::shared_ptr<Models> models, const GrpcOptions& options)
      : health_([models](const std::string& service) -> std::optional<bool> {
          if (service.empty() || service == "inference.GRPCInferenceService") return models->all_ready();
          return std::nullopt;
        }),
        server_(services(std::move(models), health_), server_options(options)) {
    server_.start();
  }
  std::uint16_t port() const override { return server_.port(); }
  void ready_changed() override { health_.changed(); }
  void stop_accepting() override { server_.stop_accepting(); }
  bool stop(std::chrono::milliseconds patience) override {
    health_.end();
    return server_.stop(patience);
  }

 private:
  static grpc::Services services(std::shared_ptr<Models> models, grpc::Health& health) {
    grpc::Services services;
    grpc::add_inference(services, std::move(models));
    health.add_to(services);
    grpc::add_reflection(services);
    return services;
  }
  static grpc::ServerOptions server_options(const GrpcOptions& options) {
    grpc::ServerOptions server;
    server.address = options.address, server.port = options.port, server.socket = options.socket;
    server.threads = options.threads, server.max_connections = options.max_connections, server.budget = options.budget;
    if (options.security) {
      server.tls = options.security->grpc_tls();
      server.admit = [security = options.security](const grpc::Call& call, bool from_this_machine) {
        return status_of(security->admit_grpc(call.path(), [&](std::string_view name) { return call.metadata(name); }, from_this_machine));
      };
    }
    server.limits.max_message_bytes = options.max_message_bytes;
    server.limits.compression_level = options.compression_level;
    return server;
  }

  grpc::Health health_;
  grpc::Server server_;
};

}  // namespace

bool has_grpc() { return true; }

std::unique_ptr<GrpcFront> open_grpc(std::shared_ptr<Models> models, const GrpcOptions& options) {
  return std::make_unique<Front>(std::move(models), options);
}

}  // namespace tenfold::server
