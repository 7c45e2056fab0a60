// Check answers once, Watch at each change.
#include "protocol/grpc_health.h"

#include <map>
#include <mutex>

#include "health.pb.h"
#include "protocol/grpc_unary.h"

namespace tenfold::server::grpc {
namespace {

using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;

std::string text(HealthCheckResponse::ServingStatus status) {
  HealthCheckResponse response;
  response.set_status(status);
  return response.SerializeAsString();
}

}  // namespace

struct Health::Watches : std::enable_shared_from_this<Watches> {
  struct Watch {
    std::shared_ptr<Call> call;
    std::string service;
    int last = -1;  // the status that its client knows
  };

  explicit Watches(Serving serving) : serving(std::move(serving)) {}

  HealthCheckResponse::ServingStatus status(const std::string& service) const {
    if (ended) return HealthCheckResponse::NOT_SERVING;
    const auto found = serving(service);
    return !found ? HealthCheckResponse::SERVICE_UNKNOWN : *found ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
  }
  void report(Watch& watch) {
    const auto now = status(watch.service);
    if (watch.last == now) return;
    watch.last = now;
    watch.call->send(text(now));
  }
  void add(const std::shared_ptr<Call>& call, std::string service) {
    {
      const std::lock_guard lock(mutex);
      report(watches[call.get()] = {call, std::move(service)});
    }
    call->on_cancel([self = shared_from_this(), key = call.get()] { self->remove(key); });
  }
  void remove(Call* key) {
    std::shared_ptr<Call> call;
    {
      const std::lock_guard lock(mutex);
      const auto it = watches.find(key);
      if (it == watches.end()) return;
      call = std::move(it->second.call);
      watches.erase(it);
    }
    call->finish({StatusCode::cancelled, "the client has left"});
  }

  const Serving serving;
  std::mutex mutex;
  bool ended = false;
  std::map<Call*, Watch> watches;
};

Health::Health(Serving serving) : watches_(std::make_shared<Watches>(std::move(serving))) {}
Health::~Health() { end(); }

void Health::add_to(Services& services) {
  services["/grpc.health.v1.Health/Check"] = unary_method<HealthCheckRequest, HealthCheckResponse>(
      [watches = watches_](const HealthCheckRequest& request, HealthCheckResponse& response) -> CallStatus {
        const auto status = watches->status(request.service());
        if (status == HealthCheckResponse::SERVICE_UNKNOWN) return {StatusCode::not_found, "unknown service '" + request.service() + "'"};
        response.set_status(status);
        return {};
      });
  services["/grpc.health.v1.Health/Watch"] = {.unary = [watches = watches_](const std::shared_ptr<Call>& call, const Message& message) {
    HealthCheckRequest request;
    if (!request.ParseFromString(message.bytes)) return call->finish({StatusCode::internal, "the request is not a HealthCheckRequest"});
    watches->add(call, request.service());
  }};
}

void Health::changed() {
  const std::lock_guard lock(watches_->mutex);
  for (auto& [key, watch] : watches_->watches) watches_->report(watch);
}

void Health::end() {
  std::map<Call*, Watches::Watch> left;
  {
    const std::lock_guard lock(watches_->mutex);
    watches_->ended = true;
    for (auto& [key, watch] : watches_->watches) watches_->report(watch);
    left.swap(watches_->watches);
  }
  for (auto& [key, watch] : left) watch.call->finish({StatusCode::unavailable, "the server is shutting down"});
}

}  // namespace tenfold::server::grpc
