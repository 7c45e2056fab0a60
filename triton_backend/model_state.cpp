// From a model's folder and configuration to a ServedModel.
#include "model_state.h"

#include <algorithm>

#include "errors.h"
#include "model_config.h"
#include "open_model.h"
#include "tenfold/internal/model_arguments.h"
#include "types.h"

namespace tenfold::triton {
namespace {

[[noreturn]] void refuse(std::string why) { throw Error(ErrorKind::invalid_argument, std::move(why)); }

const BindingInfo& find(std::span<const BindingInfo> bindings, const ConfiguredTensor& tensor, bool is_input) {
  std::string known;
  for (const BindingInfo& b : bindings) {
    if (b.is_input == is_input && b.name == tensor.name) return b;
    if (b.is_input == is_input) known += (known.empty() ? "'" : ", '") + b.name + "'";
  }
  const std::string kind = is_input ? "input" : "output";
  refuse(kind + " '" + tensor.name + "' of the configuration is not in the model, whose " + kind + "s are " +
         (known.empty() ? "none" : known));
}

void check_type(const BindingInfo& binding, const ConfiguredTensor& tensor) {
  if (dtype_of(std::string_view(tensor.type)) == binding.dtype) return;
  const std::string_view expected = configured_name(binding.dtype);
  refuse("'" + tensor.name + "' is configured as " + (tensor.type.empty() ? "no type" : tensor.type) + ", but the model has " +
         std::string(name(binding.dtype)) +
         (expected.empty() ? ", which Triton's protocol does not have: add a Cast to the model"
                           : ": configure data_type: " + std::string(expected)));
}

// The configured shape with its batch dim; nothing where the model has no dims of its own, and the configuration one of 1.
std::optional<Shape> whole_shape(const BindingInfo& binding, const ConfiguredTensor& tensor, bool batched) {
  if (binding.shape.size() == (batched ? 1 : 0) && tensor.shape == Shape{1}) return std::nullopt;
  Shape shape = tensor.shape;
  if (batched) shape.insert(shape.begin(), -1);
  return shape;
}

void check_output(const BindingInfo& binding, const ConfiguredTensor& tensor, bool batched) {
  check_type(binding, tensor);
  const std::optional<Shape> shape = whole_shape(binding, tensor, batched);
  if (!shape) return;
  bool fits = shape->size() == binding.shape.size();
  for (std::size_t i = 0; fits && i < shape->size(); ++i)
    fits = (*shape)[i] < 0 || binding.shape[i] < 0 || (*shape)[i] == binding.shape[i];
  if (!fits)
    refuse("output '" + tensor.name + "' is configured with " + std::to_string(tensor.shape.size()) + " dims [" + text(tensor.shape) +
           "]" + (batched ? " behind the batch dim" : "") + ", but the model has the shape [" + text(binding.shape) +
           "] (-1: open): configure its dims" + (batched ? " without the first" : ""));
}

// Shapes and defaults of inputs, as the configuration has them.
void configure_inputs(const ModelConfig& config, std::span<const BindingInfo> bindings, ServedModelOptions& options) {
  const bool batched = options.max_batch > 0;
  const std::vector<ConfiguredTensor> inputs = config.tensors("input");
  for (const ConfiguredTensor& input : inputs) {
    const BindingInfo& binding = find(bindings, input, true);
    check_type(binding, input);
    if (input.optional && !binding.has_default)
      refuse("input '" + input.name + "' is configured as optional, but the model has no value for it: make it an initializer that is "
             "also a graph input, or remove 'optional'");
    if (const std::optional<Shape> shape = whole_shape(binding, input, batched)) options.input_shapes[input.name] = *shape;
  }
  for (const BindingInfo& b : bindings)
    if (b.is_input && !b.has_default && std::none_of(inputs.begin(), inputs.end(), [&](const auto& i) { return i.name == b.name; }))
      refuse("input '" + b.name + "' of the model is not in the configuration: add it, or remove all inputs to have them completed");
  for (const ConfiguredTensor& output : config.tensors("output")) check_output(find(bindings, output, false), output, batched);
}

// Initializers that requests may override, because the configuration calls them optional inputs.
void configure_defaults(const ModelConfig& config, const std::string& path, ServedModelOptions& options) {
  if (!path.ends_with(".onnx")) return;
  const ModelArguments arguments = model_arguments(path);
  for (const ConfiguredTensor& input : config.tensors("input"))
    if (input.optional && std::any_of(arguments.overridable.begin(), arguments.overridable.end(),
                                      [&](const DeclaredValue& v) { return v.name == input.name; }))
      options.build.overridable.push_back(input.name);
}

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
    configure_defaults(config, path, options);
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
    configure_inputs(config, bindings, options);
    state->served = open_model(path, std::move(options));
    for (const std::string& input : state->served->open_inputs())
      log(Severity::info, "input '" + input + "' has open dims: engines are built for shapes as they come; the parameter "
                          "tenfold.profiles gives the ranges of one engine that is built now");
  } catch (Error& error) {
    throw error.within("model '" + state->name + "'");
  }
  return state;
}

}  // namespace tenfold::triton
