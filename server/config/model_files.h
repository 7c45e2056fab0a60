// Files beside a model that its configuration names: labels of classes, samples to warm up with.
#pragma once

#include "core/models.h"
#include "model_config.pb.h"

namespace tenfold::server {

// Throws Error for a path that leaves its folder.
void check_plain_path(const std::string& field, const std::string& path);
// Labels, a line each, by output.
std::map<std::string, std::vector<std::string>> read_labels(const inference::ModelConfig& config, const std::string& folder);
std::vector<Warmup> read_warmups(const inference::ModelConfig& config, const std::string& folder);

}  // namespace tenfold::server
