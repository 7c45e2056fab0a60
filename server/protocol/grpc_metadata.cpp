// What GRPCInferenceService tells of the server and its models. routes/metadata.cpp and routes/statistics.cpp tell the same in JSON.
#include "core/datatype.h"
#include "grpc_service.pb.h"
#include "protocol/grpc_inference.h"
#include "protocol/grpc_tensors.h"
#include "protocol/grpc_unary.h"
#include "tenfold/version.h"

namespace tenfold::server::grpc {
namespace {

using namespace inference;  // protobuf's messages
using ServerModel = tenfold::server::Model;
const std::string kService = "/inference.GRPCInferenceService/";

// As Triton's configurations have shapes: a tensor of rank 0 has the one dim 1.
Shape configured_shape(const ServerModel& model, const BindingInfo& binding) {
  Shape shape = binding.shape;
  if (shape.size() == (model.max_batch() > 0 ? 1u : 0u)) shape.push_back(1);
  return shape;
}

void fill(const ServerModel& model, const std::vector<std::string>& versions, ModelMetadataResponse& response) {
  response.set_name(model.name());
  for (const std::string& version : versions) response.add_versions(version);
  response.set_platform(model.options().path.ends_with(".onnx") ? "tenfold_onnx" : "tenfold_plan");
  for (const BindingInfo& binding : model.served().bindings()) {
    auto& tensor = binding.is_input ? *response.add_inputs() : *response.add_outputs();
    tensor.set_name(binding.name);
    tensor.set_datatype(std::string(v2_name(binding.dtype)));
    for (const std::int64_t extent : configured_shape(model, binding)) tensor.add_shape(extent);
  }
}

void fill_tensor(const ServerModel& model, const BindingInfo& binding, auto& tensor) {
  DataType type = TYPE_INVALID;
  DataType_Parse(std::string(configured_name(binding.dtype)), &type);
  tensor.set_name(binding.name);
  tensor.set_data_type(type);
  const Shape shape = configured_shape(model, binding);
  const bool batched = model.max_batch() > 0;
  for (std::size_t i = batched ? 1 : 0; i < shape.size(); ++i) tensor.add_dims(shape[i]);
  if (binding.shape.size() == (batched ? 1u : 0u)) tensor.mutable_reshape();
}

void fill_batching(const QueueOptions& queue, ModelDynamicBatching& batching) {
  for (const std::int64_t rows : queue.preferred_rows) batching.add_preferred_batch_size(static_cast<std::int32_t>(rows));
  batching.set_max_queue_delay_microseconds(static_cast<std::uint64_t>(queue.max_delay.count()));
  auto& policy = *batching.mutable_default_queue_policy();
  policy.set_default_timeout_microseconds(static_cast<std::uint64_t>(queue.default_timeout.count()));
  policy.set_allow_timeout_override(true);
  policy.set_max_queue_size(static_cast<std::uint32_t>(queue.max_requests));
}

void fill(const ServerModel& model, ModelConfig& config) {
  config.set_name(model.name());
  config.set_backend("tenfold");
  config.mutable_version_policy()->mutable_latest()->set_num_versions(1);
  config.set_max_batch_size(static_cast<std::int32_t>(model.max_batch()));
  for (const BindingInfo& binding : model.served().bindings()) {
    if (binding.is_input) {
      auto& input = *config.add_input();
      fill_tensor(model, binding, input);
      input.set_optional(binding.has_default);
    } else {
      fill_tensor(model, binding, *config.add_output());
    }
  }
  if (model.max_batch() > 1) fill_batching(model.options().queue, *config.mutable_dynamic_batching());
  for (const Instances& instances : model.options().instances) {
    auto& group = *config.add_instance_group();
    group.set_name(model.name());
    group.set_count(instances.count);
    group.set_kind(instances.device == "cpu" ? ModelInstanceGroup::KIND_CPU : ModelInstanceGroup::KIND_GPU);
    if (instances.device != "cpu") group.add_gpus(std::stoi(instances.device.substr(instances.device.find(':') + 1)));
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

// What find() throws becomes the call's status.
template <class Request, class Response>
Method of_models(auto answer) {
  return unary_method<Request, Response>([answer](const Request& request, Response& response) -> CallStatus {
    try {
      answer(request, response);
      return {};
    } catch (const RequestError& error) {
      return status_of({error.code, error.what()});
    }
  });
}

void add_server(Services& services, const std::shared_ptr<Models>& models) {
  services[kService + "ServerLive"] =
      of_models<ServerLiveRequest, ServerLiveResponse>([](const auto&, auto& response) { response.set_live(true); });
  services[kService + "ServerReady"] =
      of_models<ServerReadyRequest, ServerReadyResponse>([models](const auto&, auto& response) { response.set_ready(models->ready()); });
  services[kService + "ServerMetadata"] = of_models<ServerMetadataRequest, ServerMetadataResponse>([](const auto&, auto& response) {
    response.set_name("tenfold");
    response.set_version(std::string(version()));
    for (const char* extension : {"model_configuration", "statistics", "parameters"}) response.add_extensions(extension);
  });
  services[kService + "RepositoryIndex"] =
      of_models<RepositoryIndexRequest, RepositoryIndexResponse>([models](const auto&, auto& response) {
        for (const auto& model : models->all()) {
          auto& row = *response.add_models();
          row.set_name(model->name());
          row.set_version(model->version());
          row.set_state("READY");
        }
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
        } catch (const RequestError&) {
          response.set_ready(false);
        }
        return {};
      });
  services[kService + "ModelMetadata"] =
      of_models<ModelMetadataRequest, ModelMetadataResponse>([models](const auto& request, auto& response) {
        const auto model = models->find(request.name(), request.version());
        fill(*model, models->versions(model->name()), response);
      });
  services[kService + "ModelConfig"] = of_models<ModelConfigRequest, ModelConfigResponse>([models](const auto& request, auto& response) {
    fill(*models->find(request.name(), request.version()), *response.mutable_config());
  });
  services[kService + "ModelStatistics"] =
      of_models<ModelStatisticsRequest, ModelStatisticsResponse>([models](const auto& request, auto& response) {
        if (request.name().empty()) {
          for (const auto& model : models->all()) fill(*model, *response.add_model_stats());
        } else {
          fill(*models->find(request.name(), request.version()), *response.add_model_stats());
        }
      });
}

}  // namespace tenfold::server::grpc
