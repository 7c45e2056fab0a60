// Which backends and platforms of Triton this server takes the place of.
#pragma once

#include "model_config.pb.h"

namespace tenfold::server {

// Throws Error(unsupported) with what to do.
void check_backend(const inference::ModelConfig& config);
// Throws Error for a version's file that only TensorRT can read.
void check_plan(const std::string& path);

}  // namespace tenfold::server
