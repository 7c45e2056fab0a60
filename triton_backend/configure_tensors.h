// Inputs and outputs of a configuration beside those of the model; for Triton's backend and the server.
#pragma once

#include <span>
#include <string>

#include "tenfold/serving/served_model.h"

namespace tenfold::triton {

struct ConfiguredTensor {
  std::string name, type;                        // "TYPE_FP32"
  Shape shape;                                   // the model's, without the batch dim: `reshape` where there is one, else `dims`
  bool optional = false;
};

// Sets the shapes that requests may have. Throws invalid_argument where the model's inputs and outputs are not those of the configuration.
void configure_tensors(std::span<const ConfiguredTensor> inputs, std::span<const ConfiguredTensor> outputs,
                       std::span<const BindingInfo> bindings, ServedModelOptions& options);
// Initializers that requests may override, because the configuration calls them optional inputs.
void configure_defaults(std::span<const ConfiguredTensor> inputs, const std::string& path, ServedModelOptions& options);

}  // namespace tenfold::triton
