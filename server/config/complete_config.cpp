#include "config/complete_config.h"

#include <algorithm>

#include "core/datatype.h"
#include "tenfold/device.h"
#include "tenfold/error.h"
#include "tenfold/serving/served_model.h"

namespace tenfold::server {
namespace {

using inference::ModelInstanceGroup;

template <class Tensor>
void complete_tensor(Tensor& tensor, const BindingInfo& binding, bool batched) {
  inference::DataType type = inference::TYPE_INVALID;
  inference::DataType_Parse(std::string(configured_name(binding.dtype)), &type);
  if (type == inference::TYPE_INVALID)
    throw Error(ErrorKind::unsupported, "'" + binding.name + "' has the type " + std::string(tenfold::name(binding.dtype)) +
                                            ", which the v2 protocol does not have: add a Cast to the model");
  tensor.set_name(binding.name);
  tensor.set_data_type(type);
  for (std::size_t i = batched ? 1 : 0; i < binding.shape.size(); ++i) tensor.add_dims(binding.shape[i]);
  if (tensor.dims().empty()) {                   // a configuration has no tensors of rank 0
    tensor.add_dims(1);
    if (batched) tensor.mutable_reshape();
  }
}

void choose_batch(inference::ModelConfig& config, const std::string& why, std::int64_t max_rows, const Completion& completion) {
  if (config.max_batch_size() != 0 && !why.empty())
    throw Error(ErrorKind::invalid_argument, "max_batch_size is " + std::to_string(config.max_batch_size()) +
                                                 ", but the model cannot be batched: " + why +
                                                 ". Configure max_batch_size: 0, or export the model with a dynamic first dim");
  if (config.max_batch_size() != 0 || !why.empty()) return;
  const std::int64_t rows = completion.max_batch.value_or(completion.default_max_batch);
  config.set_max_batch_size(static_cast<std::int32_t>(max_rows > 0 && !completion.max_batch ? std::min(rows, max_rows) : rows));
}

std::vector<int> gpus_here() {
  std::vector<int> gpus;
  for (const DeviceDescription& device : devices())
    if (is_gpu(device.device)) gpus.push_back(std::stoi(device.device.substr(device.device.find(':') + 1)));
  return gpus;
}

// A group on GPUs that are not there goes to those that are, or to the CPU: `lines` tells it.
void place(ModelInstanceGroup& group, const std::vector<int>& gpus, std::vector<std::string>& lines) {
  if (group.kind() != ModelInstanceGroup::KIND_GPU) return group.clear_gpus();
  std::vector<int> there;
  for (const int gpu : group.gpus())
    if (std::find(gpus.begin(), gpus.end(), gpu) != gpus.end()) there.push_back(gpu);
    else lines.push_back("instance group '" + group.name() + "': there is no GPU " + std::to_string(gpu) + " here");
  if (there.empty()) there = gpus;
  if (there.empty()) {
    lines.push_back("instance group '" + group.name() + "' has kind KIND_GPU, but there is no GPU: its instances run on the CPU");
    group.set_kind(ModelInstanceGroup::KIND_CPU);
  }
  *group.mutable_gpus() = {there.begin(), there.end()};
}

}  // namespace

void normalize_config(inference::ModelConfig& config, const std::string& name) {
  if (config.name().empty()) config.set_name(name);
  if (config.platform().empty() && config.backend().empty()) config.set_backend("tenfold");
  if (!config.has_version_policy()) config.mutable_version_policy()->mutable_latest()->set_num_versions(1);
  auto& optimization = *config.mutable_optimization();
  if (!optimization.has_input_pinned_memory()) optimization.mutable_input_pinned_memory()->set_enable(true);
  if (!optimization.has_output_pinned_memory()) optimization.mutable_output_pinned_memory()->set_enable(true);
}

std::string complete_config(inference::ModelConfig& config, std::span<const BindingInfo> bindings, std::int64_t max_rows,
                            const Completion& completion) {
  const bool inputs = config.input().empty(), outputs = config.output().empty();
  std::string not_batched;
  if ((inputs || outputs) && completion.enabled) {
    const std::string why = why_not_batched(bindings);
    choose_batch(config, why, max_rows, completion);
    not_batched = why;
    const bool scheduled = config.scheduling_choice_case() != inference::ModelConfig::SCHEDULING_CHOICE_NOT_SET;
    if (config.max_batch_size() > 1 && !scheduled) config.mutable_dynamic_batching();
    const bool batched = config.max_batch_size() > 0;
    for (const BindingInfo& b : bindings) {
      if (b.is_input && inputs) {
        complete_tensor(*config.add_input(), b, batched);
        if (b.has_default) config.mutable_input()->rbegin()->set_optional(true);
      }
      if (!b.is_input && outputs) complete_tensor(*config.add_output(), b, batched);
    }
  } else if (config.max_batch_size() == 0) {
    not_batched = why_not_batched(bindings);
  }
  return not_batched;
}

void complete_instances(inference::ModelConfig& config, const Completion& completion) {
  if (config.instance_group().empty()) {
    ModelInstanceGroup& group = *config.add_instance_group();
    group.set_name(config.name());
    group.set_count(completion.instances);
    if (is_gpu(completion.device)) group.add_gpus(std::stoi(completion.device.substr(completion.device.find(':') + 1)));
    group.set_kind(is_gpu(completion.device) ? ModelInstanceGroup::KIND_GPU : ModelInstanceGroup::KIND_CPU);
  }
  int number = 0;
  for (ModelInstanceGroup& group : *config.mutable_instance_group()) {
    if (group.name().empty()) group.set_name(config.name() + "_" + std::to_string(number));
    ++number;
    if (group.kind() == ModelInstanceGroup::KIND_AUTO)
      group.set_kind(!group.gpus().empty() || is_gpu(completion.device) ? ModelInstanceGroup::KIND_GPU : ModelInstanceGroup::KIND_CPU);
    if (group.count() == 0) group.set_count(1);
  }
}

void place_instances(inference::ModelConfig& config, std::vector<std::string>& lines) {
  const auto& groups = config.instance_group();
  const bool any = std::any_of(groups.begin(), groups.end(), [](const auto& g) { return g.kind() == ModelInstanceGroup::KIND_GPU; });
  const std::vector<int> gpus = any ? gpus_here() : std::vector<int>();   // asking reads files of the system each time
  for (ModelInstanceGroup& group : *config.mutable_instance_group()) place(group, gpus, lines);
}

}  // namespace tenfold::server
