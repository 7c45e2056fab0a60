// A configuration as JSON, as Triton prints it.
#pragma once

#include <string>

#include "model_config.pb.h"

namespace tenfold::server {

// All plain fields, also those that are not set; messages that are set; numbers of 64 bits as numbers.
std::string config_json(const inference::ModelConfig& config);

}  // namespace tenfold::server
