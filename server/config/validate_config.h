// What is wrong with a configuration by itself, in Triton's words.
#pragma once

#include "model_config.pb.h"

namespace tenfold::server {

// Of a configuration that is complete. Throws Error(invalid_argument).
void validate_config(const inference::ModelConfig& config);

}  // namespace tenfold::server
