// config.pbtxt: protobuf's text format, in and out.
#pragma once

#include <string>

#include "model_config.pb.h"

namespace tenfold::server {

// Throws Error with the path, the line and the column.
inference::ModelConfig read_config(const std::string& path);
// `where`: what an error names. Throws Error.
inference::ModelConfig parse_config(const std::string& text, const std::string& where);
inference::ModelConfig parse_config_json(const std::string& json);   // of a request
std::string config_text(const inference::ModelConfig& config);

}  // namespace tenfold::server
