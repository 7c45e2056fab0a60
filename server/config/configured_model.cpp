#include "config/configured_model.h"

#include <filesystem>

#include "config/backend_rules.h"
#include "config/field_rules.h"
#include "config/model_files.h"
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

std::string parameters_of(const ModelConfig& config, ServedModelOptions& served) {
  std::map<std::string, std::string> parameters;
  for (const auto& [key, value] : config.parameters()) parameters[key] = value.string_value();
  return triton::configure(parameters, served).device;
}

std::vector<Instances> instances_of(const ModelConfig& config, const std::string& device) {
  std::vector<Instances> instances;
  for (const auto& group : config.instance_group()) {
    if (!device.empty()) instances.push_back({device, group.count()});
    else if (group.kind() == inference::ModelInstanceGroup::KIND_CPU) instances.push_back({"cpu", group.count()});
    else
      for (const std::int32_t gpu : group.gpus()) instances.push_back({"cuda:" + std::to_string(gpu), group.count()});
  }
  return instances;
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
  if (config.max_batch_size() < 0) validate_config(config);   // before it is completed by the number
  normalize_config(config, name);
  ServedModelOptions& served = options.served;
  const std::string device = parameters_of(config, served);
  options.path = path_of(config, place);
  const auto inputs = tensors_of(config.input());
  triton::configure_defaults(inputs, options.path, served);
  {
    const std::shared_ptr<ServedModel> file = triton::open_model(options.path, served);
    Completion completion = defaults.completion;
    if (!device.empty()) completion.device = device;
    options.not_batched = complete_config(config, file->bindings(), file->max_rows(), completion);
    validate_config(config);
    complete_instances(config, completion, lines);
    validate_config(config);
    served.max_batch = config.max_batch_size();
    triton::configure_tensors(tensors_of(config.input()), tensors_of(config.output()), file->bindings(), served);
  }
  options.instances = instances_of(config, device);
  set_scheduling(config, options.queue);
  options.labels = read_labels(config, place.model_folder);
  options.warmups = read_warmups(config, place.model_folder);
  options.config = std::make_shared<const ModelConfig>(std::move(config));
  return options;
}

}  // namespace tenfold::server
