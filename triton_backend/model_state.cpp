// From a model's folder and configuration to a ServedModel.
#include "model_state.h"

#include <algorithm>

#include "configure_tensors.h"
#include "errors.h"
#include "model_config.h"
#include "open_model.h"

namespace tenfold::triton {
namespace {

std::string configuration_of(TRITONBACKEND_Model* model) {
  TRITONSERVER_Message* message = nullptr;
  must(TRITONBACKEND_ModelConfig(model, 1, &message));
  const std::string json = text_of(message);
  must(TRITONSERVER_MessageDelete(message));
  return json;
}

void set_configuration(TRITONBACKEND_Model* model, const ModelConfig& config) {
  const std::string json = config.json();
  TRITONSERVER_Message* message = nullptr;
  must(TRITONSERVER_MessageNewFromSerializedJson(&message, json.data(), json.size()));
  TRITONSERVER_Error* error = TRITONBACKEND_ModelSetConfig(model, 1, message);
  must(TRITONSERVER_MessageDelete(message));
  must(error);
}

void limit_batches(ModelState& state, bool packed, std::int64_t max_batch, const LogCallback& log) {
  const std::int64_t most = state.parameters.max_batch_tokens;
  if (most == 0) return;
  state.batch_tokens = std::make_shared<const BatchTokens>(state.served, most, packed);
  if (max_batch > 0) return;
  state.batch_tokens.reset();
  log(Severity::info, "parameter 'tenfold.max_batch_tokens' changes nothing: requests are not batched");
}

}  // namespace

std::string text_of(TRITONSERVER_Message* message) {
  const char* base = nullptr;
  std::size_t bytes = 0;
  must(TRITONSERVER_MessageSerializeToJson(message, &base, &bytes));
  return std::string(base, bytes);
}

std::unique_ptr<ModelState> make_model_state(TRITONBACKEND_Model* model) {
  auto state = std::make_unique<ModelState>();
  const char *name = nullptr, *location = nullptr;
  std::uint64_t version = 0;
  TRITONBACKEND_ArtifactType kind = kTritonFilesystem;
  TRITONBACKEND_Backend* backend = nullptr;
  must(TRITONBACKEND_ModelName(model, &name));
  must(TRITONBACKEND_ModelVersion(model, &version));
  must(TRITONBACKEND_ModelRepository(model, &kind, &location));
  must(TRITONBACKEND_ModelBackend(model, &backend));
  state->name = name;
  try {
    const BackendState& shared = *state_of<BackendState>(backend, TRITONBACKEND_BackendState);
    ModelConfig config(configuration_of(model));
    config.refuse_unsupported();
    const LogCallback log = log_of("model '" + state->name + "'");
    for (const std::string& line : config.without_effect()) log(Severity::info, line);

    ServedModelOptions options;
    options.build.log = log, options.build.runtime = shared.runtime, options.cache = shared.cache;
    state->parameters = configure(config.parameters(), options);
    const std::string path = model_path(std::string(location) + "/" + std::to_string(version), config.default_file());
    configure_defaults(config.tensors("input"), path, options);
    ServedModelOptions as_is = options;   // what the file declares, for which nothing is configured yet
    const std::shared_ptr<ServedModel> file = open_model(path, std::move(as_is));
    const std::vector<BindingInfo>& bindings = file->bindings();

    bool complete = false;
    must(TRITONBACKEND_ModelAutoCompleteConfig(model, &complete));
    if (complete) {
      std::vector<std::string> lines;
      const std::int64_t rows = shared.default_max_batch;
      const bool changed = config.complete(bindings, file->max_rows() > 0 ? std::min(rows, file->max_rows()) : rows, lines);
      for (const std::string& line : lines) log(Severity::info, line);
      if (changed) set_configuration(model, config);
    }
    options.max_batch = config.max_batch_size();
    configure_tensors(config.tensors("input"), config.tensors("output"), bindings, options);
    const bool packed = options.build.pack_tokens != PackTokens::no;
    state->served = open_model(path, std::move(options));
    limit_batches(*state, packed, config.max_batch_size(), log);
    for (const std::string& input : state->served->open_inputs())
      log(Severity::info, "input '" + input + "' has open dims: engines are built for shapes as they come; the parameter "
                          "tenfold.profiles gives the ranges of one engine that is built now");
  } catch (Error& error) {
    throw error.within("model '" + state->name + "'");
  }
  return state;
}

}  // namespace tenfold::triton
