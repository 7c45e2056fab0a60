#include "config/configured_model.h"

#include <filesystem>

#include "config/backend_rules.h"
#include "config/field_rules.h"
#include "config/model_files.h"
#include "config/metrics_config.h"
#include "config/scheduling.h"
#include "config/validate_config.h"
#include "tenfold/device.h"
#include "tenfold/error.h"
#include "triton_backend/configure_tensors.h"
#include "triton_backend/open_model.h"
#include "triton_backend/parameters.h"

namespace tenfold::server {
namespace {

using inference::ModelConfig;

template <class List>
std::vector<triton::ConfiguredTensor> tensors_of(const List& list) {
  std::vector<triton::ConfiguredTensor> tensors;
  for (const auto& one : list) {
    triton::ConfiguredTensor tensor{one.name(), inference::DataType_Name(one.data_type()), {}, false};
    const auto& shape = one.has_reshape() ? one.reshape().shape() : one.dims();
    tensor.shape.assign(shape.begin(), shape.end());
    if constexpr (requires { one.optional(); }) tensor.optional = one.optional();
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

void check_name(const ModelConfig& config, const std::string& name) {
  if (!config.name().empty() && config.name() != name)
    throw Error(ErrorKind::invalid_argument, "unexpected directory name '" + name + "' for model '" + config.name() +
                                                 "', directory name must equal model name");
}

triton::Parameters parameters_of(const ModelConfig& config, ServedModelOptions& served) {
  std::map<std::string, std::string> parameters;
  for (const auto& [key, value] : config.parameters()) parameters[key] = value.string_value();
  return triton::configure(parameters, served);
}

// `chosen`: where instances go that leave it to the model (KIND_MODEL).
std::vector<Instances> instances_of(const ModelConfig& config, const std::string& device, const std::string& chosen) {
  std::vector<Instances> instances;
  for (const auto& group : config.instance_group()) {
    if (!device.empty()) instances.push_back({device, group.count()});
    else if (group.kind() == inference::ModelInstanceGroup::KIND_MODEL) instances.push_back({chosen, group.count()});
    else if (group.kind() == inference::ModelInstanceGroup::KIND_CPU) instances.push_back({"cpu", group.count()});
    else
      for (const std::int32_t gpu : group.gpus()) instances.push_back({"cuda:" + std::to_string(gpu), group.count()});
  }
  return instances;
}

template <class Tensor>
Shape set_shape(const Tensor& tensor, std::span<const BindingInfo> bindings, bool is_input, bool batched,
                std::map<std::string, Reshape>& reshapes) {
  const Shape dims(tensor.dims().begin(), tensor.dims().end());
  if (tensor.has_reshape()) reshapes[tensor.name()] = {dims, {tensor.reshape().shape().begin(), tensor.reshape().shape().end()}};
  for (const BindingInfo& b : bindings)
    if (b.is_input == is_input && b.name == tensor.name() && b.shape.size() == (batched ? 1u : 0u) && dims == Shape{1})
      reshapes[tensor.name()] = {dims, {}};
  return dims;
}

void set_shapes(const ModelConfig& config, std::span<const BindingInfo> bindings, ModelOptions& options) {
  const bool batched = config.max_batch_size() > 0;
  for (const auto& input : config.input())
    options.input_dims[input.name()] = set_shape(input, bindings, true, batched, options.input_reshapes);
  for (const auto& output : config.output()) set_shape(output, bindings, false, batched, options.output_reshapes);
}

std::string path_of(const ModelConfig& config, const VersionPlace& place) {
  if (!place.file.empty()) return place.file;
  if (!config.default_model_filename().empty()) check_plain_path("default_model_filename", config.default_model_filename());
  const std::string path = triton::model_path(place.folder, config.default_model_filename());
  check_plan(path);
  return path;
}

}  // namespace

ModelOptions configured_model(ModelConfig config, const std::string& name, std::int64_t version, const VersionPlace& place,
                              const ModelDefaults& defaults, std::vector<std::string>& lines) {
  ModelOptions options = defaults.base;
  options.name = name, options.version = std::to_string(version);
  check_name(config, name);
  check_backend(config);
  for (std::string& line : check_fields(config)) lines.push_back(std::move(line));
  normalize_config(config, name);
  if (config.max_batch_size() < 0) validate_config(config);   // before it is completed by the number
  ServedModelOptions& served = options.served;
  const auto [device, max_batch_tokens] = parameters_of(config, served);
  options.path = path_of(config, place);
  const auto inputs = tensors_of(config.input());
  triton::configure_defaults(inputs, options.path, served);
  {
    const std::shared_ptr<ServedModel> file = triton::open_model(options.path, served);
    Completion completion = defaults.completion;
    if (!device.empty()) completion.device = device;
    const bool encoder = is_encoder_folder(options.path);
    if (!encoder && defaults.text.precision == EncoderPrecision::int8)
      throw Error(ErrorKind::unsupported, "--precision is int8, which is for encoders' folders, and " + options.path +
                                              " is none: tenfold quantize writes an int8 model, which needs no flag");
    if (encoder && defaults.text.any_batch) completion.default_max_batch = kDefaultTexts;
    // One makes answers of vectors while the other computes, which keeps a GPU busy half as long again.
    if (completion.instances == 0) completion.instances = encoder && is_gpu(completion.device) ? 2 : 1;
    options.not_batched = complete_config(config, file->bindings(), file->max_rows(), completion);
    complete_instances(config, completion);
    validate_config(config);
    const std::size_t before = lines.size();
    place_instances(config, lines);
    if (lines.size() > before && !served.fallback_at_runs)
      throw Error(ErrorKind::unsupported, lines[before] + "; --fallback=off forbids to go on with another device");
    served.max_batch = config.max_batch_size();
    set_shapes(config, file->bindings(), options);
    triton::configure_tensors(tensors_of(config.input()), tensors_of(config.output()), file->bindings(), served);
  }
  options.instances = instances_of(config, device, defaults.completion.device);
  // One file's answers are kept wherever there is a cache; those of a repository's models as they say.
  if (!place.file.empty() && options.cache_responses) config.mutable_response_cache()->set_enable(true);
  if (config.response_cache().enable() && !options.cache_responses)
    lines.push_back("response_cache changes nothing: the server has no cache; --cache-config=local,size=N gives it one");
  options.cache_responses = options.cache_responses && config.response_cache().enable();
  set_scheduling(config, options.queue);
  set_metrics(config, options.queue);
  if (is_encoder_folder(options.path)) {
    TextDefaults text = defaults.text;
    if (max_batch_tokens > 0) text.batch_tokens = max_batch_tokens;
    set_encoder(options, text);
  } else if (max_batch_tokens > 0) {
    throw Error(ErrorKind::unsupported, "parameter 'tenfold.max_batch_tokens' is for encoders in Tenfold's server, and this model is none: "
                                        "serve it by Triton and libtriton_tenfold.so");
  }
  options.labels = read_labels(config, place.model_folder);
  options.warmups = read_warmups(config, place.model_folder);
  options.config = std::make_shared<const ModelConfig>(std::move(config));
  return options;
}

}  // namespace tenfold::server
