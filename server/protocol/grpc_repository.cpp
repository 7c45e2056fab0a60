// Model control of GRPCInferenceService. routes/repository_routes.cpp has the same over HTTP.
#include "grpc_service.pb.h"
#include "protocol/grpc_inference.h"
#include "protocol/grpc_tensors.h"

namespace tenfold::server::grpc {
namespace {

using namespace inference;  // protobuf's messages

[[noreturn]] void refuse(const std::string& why) { throw RequestError(Code::invalid_argument, why); }

void check_repository(const std::string& name) {
  if (!name.empty()) throw RequestError(Code::unsupported, "'repository_name' specification is not supported");
}

void index(const Models& models, const RepositoryIndexRequest& request, RepositoryIndexResponse& response) {
  check_repository(request.repository_name());
  for (const IndexRow& one : model_index(models, request.ready())) {
    auto& row = *response.add_models();
    row.set_name(one.name);
    row.set_version(one.version);
    row.set_state(std::string(name(one.state)));
    row.set_reason(one.reason);
  }
}

std::string config_of(const RepositoryModelLoadRequest& request) {
  std::string config;
  for (const auto& [key, value] : request.parameters()) {
    if (key.starts_with("file:"))
      refuse("Load parameter '" + key.substr(0, 80) + "': this server takes no files by requests; put them into the repository");
    if (key != "config") refuse("Load parameter '" + key.substr(0, 80) + "' is not known: there is 'config'");
    if (!value.has_string_param()) refuse("invalid value type for 'config' parameter, expected string_param.");
    config = value.string_param();
  }
  return config;
}

void check_unload(const RepositoryModelUnloadRequest& request) {
  for (const auto& [key, value] : request.parameters()) {
    if (key != "unload_dependents") refuse("Unload parameter '" + key.substr(0, 80) + "' is not known: there is 'unload_dependents'");
    if (!value.has_bool_param()) refuse("invalid value type for 'unload_dependents' parameter, expected bool_param.");
  }
}

// `act` takes the request and what is to be called when it is done, maybe by another thread. It may throw RequestError.
template <class Request, class Response, class Act>
Method control_method(Act act) {
  return {.unary = [act](const std::shared_ptr<Call>& call, const Message& message) {
    Request request;
    if (!request.ParseFromString(message.bytes))
      return call->finish({StatusCode::internal, "the request is not a " + request.GetTypeName()});
    try {
      act(std::as_const(request), [call](const Status& status, const Response& response) {
        if (status) call->send(response.SerializeAsString());
        call->finish(status_of(status));
      });
    } catch (const RequestError& error) {
      call->finish(status_of({error.code, error.what()}));
    }
  }};
}

}  // namespace

void add_repository(Services& services, const std::shared_ptr<Models>& models) {
  services[kService + "RepositoryIndex"] =
      control_method<RepositoryIndexRequest, RepositoryIndexResponse>([models](const auto& request, const auto& done) {
        RepositoryIndexResponse response;
        index(*models, request, response);
        done({}, response);
      });
  services[kService + "RepositoryModelLoad"] =
      control_method<RepositoryModelLoadRequest, RepositoryModelLoadResponse>([models](const auto& request, const auto& done) {
        check_repository(request.repository_name());
        const std::string config = config_of(request);
        model_control(*models).load(request.model_name(), config, [done](const Status& status) { done(status, {}); });
      });
  services[kService + "RepositoryModelUnload"] =
      control_method<RepositoryModelUnloadRequest, RepositoryModelUnloadResponse>([models](const auto& request, const auto& done) {
        check_repository(request.repository_name());
        check_unload(request);
        model_control(*models).unload(request.model_name(), [done](const Status& status) { done(status, {}); });
      });
}

}  // namespace tenfold::server::grpc
