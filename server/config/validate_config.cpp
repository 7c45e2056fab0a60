#include "config/validate_config.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

using inference::ModelConfig;
constexpr int kMaxInstances = 1024, kMaxBatch = 1 << 20;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::invalid_argument, why); }

void check_batching(const ModelConfig& config) {
  const auto& batching = config.dynamic_batching();
  const std::string of = " for " + config.name();
  for (const std::int32_t size : batching.preferred_batch_size()) {
    if (size <= 0) refuse("dynamic batching preferred size must be positive" + of);
    if (size > config.max_batch_size()) refuse("dynamic batching preferred size must be <= max batch size" + of);
  }
  const std::uint64_t levels = batching.priority_levels();
  const std::string range = " in range [1, " + std::to_string(levels) + "]" + of;
  if (levels != 0) {
    if (batching.default_priority_level() == 0 || batching.default_priority_level() > levels)
      refuse("default priority level must be" + range);
    if (batching.preserve_ordering() && levels > 1)
      refuse("Only one priority level is allowed when 'preserve_ordering' is true" + of);
  }
  for (const auto& [level, policy] : batching.priority_queue_policy())
    if (level == 0 || level > levels) refuse("priority queue policy must have priority level" + range);
}

void check_instances(const ModelConfig& config) {
  std::int64_t instances = 0;
  for (const auto& group : config.instance_group()) {
    const std::string name = "instance group " + group.name() + " of model " + config.name();
    if (group.count() < 1) refuse(name + " has count " + std::to_string(group.count()) + ", expected 1 or more");
    if (!group.gpus().empty() && group.kind() == inference::ModelInstanceGroup::KIND_CPU)
      refuse(name + " has kind KIND_CPU but specifies one or more GPUs");
    for (const std::int32_t gpu : group.gpus())
      if (gpu < 0) refuse(name + " specifies invalid GPU id " + std::to_string(gpu));
    instances += static_cast<std::int64_t>(group.count()) * std::max(1, group.gpus_size());
  }
  if (instances > kMaxInstances)
    refuse("model " + config.name() + " has " + std::to_string(instances) + " instances, and " + std::to_string(kMaxInstances) +
           " at most are made");
}

template <class Dims>
int open_dims(const Dims& dims) {
  return static_cast<int>(std::count(dims.begin(), dims.end(), -1));
}

// The product of the extents between open ones must be equal, else the reshape loses or invents elements.
void check_reshape(const auto& dims, const auto& shape, const std::string& in, const std::string& of) {
  for (const std::int64_t extent : shape)
    if (extent < 1 && extent != -1)
      refuse(in + "reshape dimensions must be integer >= 1, or -1 to indicate a variable-size dimension" + of);
  const int open = open_dims(dims), reshape_open = open_dims(shape);
  if (open > 0 && reshape_open > 0 && open != reshape_open)
    refuse(in + "has different number of variable-size dimensions for dims and reshape" + of);
  const auto products = [](const auto& extents) {
    std::vector<std::int64_t> made = {1};
    for (const std::int64_t extent : extents) {
      if (extent == -1) made.push_back(1);
      else if (__builtin_mul_overflow(made.back(), extent, &made.back())) made.back() = -1;
    }
    return made;
  };
  if (products(dims) != products(shape)) refuse(in + "has different size for dims and reshape" + of);
}

template <class Tensor>
void check_tensor(const Tensor& tensor, const ModelConfig& config, const std::string& kind) {
  const std::string of = " for " + config.name();
  if (tensor.name().empty()) refuse("model " + kind + " must specify 'name'" + of);
  const std::string in = "model " + kind + " '" + tensor.name() + "' ";
  if (tensor.data_type() == inference::TYPE_INVALID) refuse(in + "must specify 'data_type'" + of);
  if (tensor.dims().empty()) refuse(in + "must specify 'dims'" + of);
  for (const std::int64_t extent : tensor.dims())
    if (extent < 1 && extent != -1) refuse(in + "dimension must be integer >= 1, or -1 to indicate a variable-size dimension" + of);
  if (!tensor.has_reshape()) return;
  if (config.max_batch_size() == 0 && tensor.reshape().shape().empty())
    refuse(in + "cannot have empty reshape for non-batching model as scalar tensors are not supported" + of);
  check_reshape(tensor.dims(), tensor.reshape().shape(), in, of);
}

void check_tensors(const ModelConfig& config) {
  std::set<std::string> names;
  for (const auto& input : config.input()) {
    check_tensor(input, config, "input");
    if (input.format() != inference::ModelInput::FORMAT_NONE && input.dims_size() != 3)
      refuse("model input NHWC/NCHW require 3 dims for " + config.name());
    if (!names.insert(input.name()).second) refuse("input '" + input.name() + "' of model " + config.name() + " is given twice");
  }
  names.clear();
  for (const auto& output : config.output()) {
    check_tensor(output, config, "output");
    if (!names.insert(output.name()).second) refuse("output '" + output.name() + "' of model " + config.name() + " is given twice");
  }
}

// They are labels of metrics.
void check_tags(const ModelConfig& config) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  for (const auto& [name, value] : config.metric_tags()) {
    const bool named = !name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
      return letter(c) || (c >= '0' && c <= '9');
    });
    if (!named || name == "model" || name == "version" || name == "le" || name == "quantile" || name == "reason")
      refuse("metric_tags: '" + name + "' is no name for a label of its own: letters, digits and '_', other than model, version, reason");
  }
}

}  // namespace

void validate_config(const ModelConfig& config) {
  if (config.max_batch_size() < 0) refuse("'max_batch_size' must be non-negative value for " + config.name());
  if (config.max_batch_size() > kMaxBatch)
    refuse("max_batch_size is " + std::to_string(config.max_batch_size()) + ", expected " + std::to_string(kMaxBatch) + " at most");
  check_tensors(config);
  if (config.has_dynamic_batching()) check_batching(config);
  check_instances(config);
  check_tags(config);
}

}  // namespace tenfold::server
