// Completes a configuration as Triton and its ONNX backend do, so that a model without one is served alike.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model_config.pb.h"
#include "tenfold/engine.h"

namespace tenfold::server {

struct Completion {
  bool enabled = true;                           // inputs, outputs and the batch; else the configuration must have them
  std::int64_t default_max_batch = 4;            // where the configuration has none
  std::optional<std::int64_t> max_batch;         // of --max-batch, where the configuration has none
  std::string device;                            // of instances without a group
  int instances = 1;                             // of each such group
};

// What Triton fills in before it opens a model.
void normalize_config(inference::ModelConfig& config, const std::string& name);
// From what the model has. Returns why requests are not batched where that was to be chosen, or nothing. Throws Error.
std::string complete_config(inference::ModelConfig& config, std::span<const BindingInfo> bindings, std::int64_t max_rows,
                            const Completion& completion);
// The groups of instances, each with a name, a count and a kind.
void complete_instances(inference::ModelConfig& config, const Completion& completion);
// Groups on GPUs get the numbers of those that are here, or go to the CPU: `lines` tells it.
void place_instances(inference::ModelConfig& config, std::vector<std::string>& lines);

}  // namespace tenfold::server
