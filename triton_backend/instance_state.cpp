// The state of the backend and of instances: processors, plan cache, devices, host policies.
#include <charconv>

#include "errors.h"
#include "model_config.h"
#include "model_state.h"
#include "newer_api.h"
#include "tenfold/device.h"

namespace tenfold::triton {
namespace {

// Plans are kept where --backend-config=tenfold,plan-cache-dir=DIR says, else in the user's cache.
std::optional<PlanCache> open_cache(const std::string& folder, const LogCallback& log) {
  try {
    return PlanCache({.folder = folder});
  } catch (const Error& error) {
    if (!folder.empty()) throw;
    log(Severity::warning, std::string("plans are not kept, so each start builds them anew (--backend-config=tenfold,plan-cache-dir=DIR "
                                       "gives a folder): ") + error.what());
    return std::nullopt;
  }
}

std::string device_of(TRITONBACKEND_ModelInstance* instance, const ModelState& model, std::int32_t& number) {
  TRITONSERVER_InstanceGroupKind kind = kTritonKindAuto;
  must(TRITONBACKEND_ModelInstanceKind(instance, &kind));
  must(TRITONBACKEND_ModelInstanceDeviceId(instance, &number));
  if (!model.parameters.device.empty()) return model.parameters.device;
  return kind == kTritonKindGpu ? "cuda:" + std::to_string(number) : "cpu";
}

std::string host_policy_of(TRITONBACKEND_ModelInstance* instance) {
  TRITONSERVER_Message* message = nullptr;   // Triton's own
  must(TRITONBACKEND_ModelInstanceHostPolicy(instance, &message));
  return message ? first_key(text_of(message)) : "";
}

}  // namespace

std::unique_ptr<BackendState> make_backend_state(TRITONBACKEND_Backend* backend) {
  auto state = std::make_unique<BackendState>();
  std::uint32_t major = 0, minor = 0;
  must(TRITONBACKEND_ApiVersion(&major, &minor));
  if (major != 1 || minor < 10)
    throw Error(ErrorKind::unsupported, "the server has version " + std::to_string(major) + "." + std::to_string(minor) +
                                            " of Triton's backend API, expected 1.10 or a newer 1.x");
  TRITONSERVER_Message* message = nullptr;   // Triton's own
  must(TRITONBACKEND_BackendConfig(backend, &message));
  const std::string config = text_of(message), batch = backend_setting(config, "default-max-batch-size");
  std::from_chars(batch.data(), batch.data() + batch.size(), state->default_max_batch);
  const LogCallback log = log_of("backend");
  RuntimeOptions runtime;
  runtime.log = log;
  state->runtime = std::make_shared<Runtime>(runtime);
  state->cache = open_cache(backend_setting(config, "plan-cache-dir"), log);
  log(Severity::info,
      "Tenfold " + std::string(version()) + ", Triton's backend API " + std::to_string(major) + "." + std::to_string(minor));
  return state;
}

std::unique_ptr<InstanceState> make_instance_state(TRITONBACKEND_ModelInstance* instance) {
  TRITONBACKEND_Model* model = nullptr;
  must(TRITONBACKEND_ModelInstanceModel(instance, &model));
  const ModelState& of_model = *state_of<ModelState>(model, TRITONBACKEND_ModelState);
  const char* name = nullptr;
  must(TRITONBACKEND_ModelInstanceName(instance, &name));
  auto state = std::make_unique<InstanceState>();
  state->served = of_model.served, state->batch_tokens = of_model.batch_tokens;
  state->host_policy = host_policy_of(instance);
  try {
    std::int32_t number = 0;
    state->instance = of_model.served->create_instance(device_of(instance, of_model, number));
    const std::string& device = state->instance->device();
    log_of("model '" + of_model.name + "'")(Severity::info, "instance '" + std::string(name) + "' runs on " + device);
    if (of_model.batch_tokens && !of_model.has_batcher)
      log_of("model '" + of_model.name + "'")(Severity::warning,
          "Triton forms batches without tenfold.max_batch_tokens, so they are divided before they run: it found no batchstrategy.so "
          "beside libtriton_tenfold.so, to which that is a link");
    report_memory(instance, is_gpu(device), number, state->instance->memory_bytes());
  } catch (Error& error) {
    throw error.within("model '" + of_model.name + "', instance '" + name + "'");
  }
  return state;
}

}  // namespace tenfold::triton
