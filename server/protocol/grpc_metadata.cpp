// What GRPCInferenceService tells of the server and its models. routes/metadata.cpp and routes/statistics.cpp tell the same in JSON.
#include "grpc_service.pb.h"
#include "protocol/grpc_inference.h"
#include "protocol/grpc_tensors.h"
#include "protocol/grpc_unary.h"
#include "protocol/tensor_metadata.h"
#include "tenfold/version.h"

namespace tenfold::server::grpc {
namespace {

using namespace inference;  // protobuf's messages
using ServerModel = tenfold::server::Model;

void fill(const ServerModel& model, const std::vector<std::string>& versions, ModelMetadataResponse& response) {
  response.set_name(model.name());
  for (const std::string& version : versions) response.add_versions(version);
  response.set_platform(platform_of(model));
  for (const bool inputs : {true, false})
    for (const TensorMetadata& one : tensor_metadata(model, inputs)) {
      auto& tensor = inputs ? *response.add_inputs() : *response.add_outputs();
      tensor.set_name(one.name);
      tensor.set_datatype(std::string(one.datatype));
      for (const std::int64_t extent : one.shape) tensor.add_shape(extent);
    }
}

void set(StatisticDuration& duration, const DurationSum& sum) {
  duration.set_count(sum.count);
  duration.set_ns(sum.ns);
}

void fill(const ServerModel& model, ModelStatistics& response) {
  const std::uint64_t refused = model.refused();
  const QueueStatistics statistics = model.queue().statistics();
  response.set_name(model.name());
  response.set_version(model.version());
  response.set_last_inference(static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(statistics.last_inference.time_since_epoch()).count()));
  response.set_inference_count(statistics.inferences);
  response.set_execution_count(statistics.executions);
  auto& times = *response.mutable_inference_stats();
  DurationSum failure = statistics.failure;
  failure.count += refused;
  set(*times.mutable_success(), statistics.success);
  set(*times.mutable_fail(), failure);
  set(*times.mutable_queue(), statistics.queue);
  set(*times.mutable_compute_input(), statistics.compute_input);
  set(*times.mutable_compute_infer(), statistics.compute_infer);
  set(*times.mutable_compute_output(), statistics.compute_output);
  set(*times.mutable_cache_hit(), statistics.cache_hit);
  set(*times.mutable_cache_miss(), statistics.cache_miss);
  for (const auto& [rows, of_size] : statistics.batches) {
    auto& batch = *response.add_batch_stats();
    batch.set_batch_size(static_cast<std::uint64_t>(rows));
    set(*batch.mutable_compute_input(), of_size.compute_input);
    set(*batch.mutable_compute_infer(), of_size.compute_infer);
    set(*batch.mutable_compute_output(), of_size.compute_output);
  }
}

void add_server(Services& services, const std::shared_ptr<Models>& models) {
  services[kService + "ServerLive"] =
      throwing_method<ServerLiveRequest, ServerLiveResponse>([](const auto&, auto& response) { response.set_live(true); });
  services[kService + "ServerReady"] =
      throwing_method<ServerReadyRequest, ServerReadyResponse>([models](const auto&, auto& response) {
        response.set_ready(models->all_ready());
      });
  services[kService + "ServerMetadata"] = throwing_method<ServerMetadataRequest, ServerMetadataResponse>([](const auto&, auto& response) {
    response.set_name("tenfold");
    response.set_version(std::string(version()));
    for (const char* extension : {"model_configuration", "model_repository", "model_repository(unload_dependents)", "statistics",
                                  "parameters", "trace", "logging"})
      response.add_extensions(extension);
  });
}

}  // namespace

void add_metadata(Services& services, const std::shared_ptr<Models>& models) {
  add_server(services, models);
  // As in Triton, a model that is not there is not ready.
  services[kService + "ModelReady"] = unary_method<ModelReadyRequest, ModelReadyResponse>(
      [models](const ModelReadyRequest& request, ModelReadyResponse& response) -> CallStatus {
        try {
          response.set_ready(models->find(request.name(), request.version()) && models->ready());
        } catch (const RequestError& error) {
          if (error.code == Code::invalid_argument) return status_of({error.code, error.what()});   // a version that is no number
          response.set_ready(false);
        }
        return {};
      });
  services[kService + "ModelMetadata"] =
      throwing_method<ModelMetadataRequest, ModelMetadataResponse>([models](const auto& request, auto& response) {
        const auto model = models->find(request.name(), request.version());
        fill(*model, models->versions(model->name()), response);
      });
  services[kService + "ModelConfig"] =
      throwing_method<ModelConfigRequest, ModelConfigResponse>([models](const auto& request, auto& response) {
        *response.mutable_config() = models->find(request.name(), request.version())->config();
      });
  services[kService + "ModelStatistics"] =
      throwing_method<ModelStatisticsRequest, ModelStatisticsResponse>([models](const auto& request, auto& response) {
        if (request.name().empty()) {
          for (const auto& model : models->all()) fill(*model, *response.add_model_stats());
        } else {
          fill(*models->find(request.name(), request.version()), *response.add_model_stats());
        }
      });
}

}  // namespace tenfold::server::grpc
